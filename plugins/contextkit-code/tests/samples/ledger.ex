defmodule Bank.Ledger do
  @moduledoc """
  Keeps the entries.
  """

  defstruct entries: []

  @doc """
  Add an entry.
  """
  @spec add(t, integer) :: t
  def add(ledger, amount) when amount > 0 do
    %{ledger | entries: [amount | ledger.entries]}
  end

  def add(ledger, _amount), do: ledger

  # Sum of the entries.
  defp sum(entries) do
    Enum.sum(entries)
  end

  defmacro audited(block) do
    block
  end
end

defprotocol Bank.Show do
  @doc "Show it."
  def show(value)
end

defimpl Bank.Show, for: Integer do
  def show(value), do: to_string(value)
end

defmodule Bank.Store do
  @doc "Keep it."
  @callback keep(term) :: :ok

  @callback keep(term, list) :: :ok when list: list
end
