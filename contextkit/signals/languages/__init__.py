"""Questions in other languages than English, about projects that are written in English.

Each language has a file: the words that its questions are made with, and words of programming
with the English ones for them. The English words join the question wherever its words count:
in the store's search, in the signals, and in how much of a question an item has. An English
question has none of this and stays as it is.

| module | what it knows |
|---|---|
| `lexicon` | a language's words, and the English ones for a word |
| `reading` | which language a question is in, and its words |
"""

from __future__ import annotations

from contextkit.signals.languages.lexicon import Lexicon, Term
from contextkit.signals.languages.reading import (
    in_english,
    is_unspaced,
    language_of,
    terms_in,
)

__all__ = ["Lexicon", "Term", "in_english", "is_unspaced", "language_of", "terms_in"]
