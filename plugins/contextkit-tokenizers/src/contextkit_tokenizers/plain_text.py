"""Make text readable for a tokenizer.

Half surrogate pairs, which UTF-8 cannot hold, are replaced.
"""

from __future__ import annotations


def plain_text(text: str) -> str:
    """Replace half surrogate pairs by U+FFFD; join matching halves.

    OpenAI's own library counts such text in the same way.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
