(* Ships and where they lie. *)

open Base
module Names = Map.Make (String)

(** What lies in a harbour. *)
type ship = {
  name : string;
  length : int;
}

type place = Free | Taken of ship
and row = place list

exception Full of string

external now : unit -> float = "harbour_now"

let longest = 100

(** [moor ship row] gives a ship
    the first free place. *)
let rec moor ship = function
  | [] -> raise (Full ship.name)
  | Free :: rest -> Taken ship :: rest
  | taken :: rest -> taken :: moor ship rest

let ( |+ ) row ship = moor ship row

let rec is_even n = n = 0 || is_odd (n - 1)
and is_odd n = n <> 0 && is_even (n - 1)

module type Store = sig
  type t

  val find : t -> string -> ship option
end

module Log = struct
  let lines = ref []

  let add line =
    let trimmed s = String.strip s in
    lines := trimmed line :: !lines
end

module Make (S : Store) : sig
  val known : S.t -> string -> bool
end = struct
  let known store name = Option.is_some (S.find store name)
end

class pier width = object (self)
  val mutable ships = []

  method add ship = ships <- ship :: ships

  method private width = width
end

let () = print_endline "open"
