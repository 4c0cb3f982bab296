"""Text that a tokenizer can read: without half surrogate pairs, which UTF-8 cannot hold."""

from __future__ import annotations


def plain_text(text: str) -> str:
    """The text with U+FFFD for each half surrogate pair; two that belong together are joined.

    OpenAI's own library counts such text in the same way.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
