"""Summaries in place of items that do not fit whole.

Where a section has more than its part of the budget holds, its weakest items are summarised
to a third of their tokens until it does, the last of them to what there is room for. What
would be left out even so is left alone: nobody is asked to summarise what nobody will see.
Whoever summarises, the texts that an item must keep are in its summary, or the item stays as
it is and is shortened or left out as without compression.
"""

from __future__ import annotations

from contextkit.compression.stage import Compressor

__all__ = ["Compressor"]
