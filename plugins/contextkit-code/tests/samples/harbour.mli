(** Ships and where they lie. *)

type ship
(** What lies in a harbour. *)

exception Full of string

val longest : int

(** Gives a ship
    the first free place. *)
val moor : ship -> ship list -> ship list

val find : string -> ship option
(** [find name] is the ship of that name.

    There may be none. *)

val ( |+ ) : ship list -> ship -> ship list
(** The same as {!moor}. *)
val count : ship list -> int

external now : unit -> float = "harbour_now"

module type Store = sig
  type t

  val known : t -> string -> bool
  (** Whether a ship is known. *)
end

module Make (S : Store) : sig
  val all : S.t -> ship list
end

class pier : int -> object
  method add : ship -> unit
end
