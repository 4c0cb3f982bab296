"""Compact form of a code unit.

One line: the signature and the first sentence of the docstring.
"""

from __future__ import annotations

import re

from contextkit import ContextItem
from contextkit.text import one_line, truncate

_LONGEST = 200
_WORD = re.compile(r"\w")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
# A full stop before a lower-case letter ends an abbreviation, not a sentence.
_SENTENCE = re.compile(r".*?(?:[.!?](?=\s+[^\sa-z]|\s*\Z)|[。！？])")
_DOC_TAG = re.compile(r"</?(?:summary|para|p)>")
_BEHIND_BRACKET = re.compile(r"([(\[{])\s*\n\s*")
_BEFORE_BRACKET = re.compile(r"(?:,\s++|(?<![,\s])\s++)([)\]}])")
_SEPARATORS = re.compile(r"::|[:#]")
_BODY_FOLLOWS = " \t\n:{"


def compact_unit(item: ContextItem) -> tuple[str, str]:
    """Return signature and first docstring sentence, one line each.

    Returns:
        The signature with the qualified name in it (of a window its first line that says
        something, behind the name of the definition it is a part of), never empty; and
        the first sentence of the docstring, or "".
    """
    data = item.metadata
    name, qualified = str(data.get("name") or ""), str(data.get("qualified_name") or "")
    signature = _on_one_line(str(data.get("signature") or ""))
    if signature:
        what = _qualified(signature, name, qualified)
    else:
        file_name = str(data.get("file_path") or "").rpartition("/")[2]
        part_of = "" if qualified == file_name else qualified
        what = f"{part_of} {_first_line(item.content)}"
    what = one_line(truncate(one_line(what), _LONGEST, len)) or one_line(item.title or item.id)
    return what, _first_sentence(str(data.get("docstring") or ""))


def _on_one_line(signature: str) -> str:
    """Join a signature's lines.

    `def f(` / `a,` / `):` becomes `def f(a)`.
    """

    def without_end(found: re.Match[str]) -> str:
        return found[1] if "\n" in found[0] else found[0]

    folded = _BEFORE_BRACKET.sub(without_end, _BEHIND_BRACKET.sub(r"\1", signature))
    return one_line(folded.rstrip(_BODY_FOLLOWS))


def _qualified(signature: str, name: str, qualified: str) -> str:
    """Replace the name in a signature with the qualified name.

    A signature that already contains the qualified name is returned unchanged.
    """
    if not qualified or qualified in _SEPARATORS.sub(".", signature):
        return signature
    word = rf"(?<![\w$.:]){re.escape(name)}"
    found = name and (
        re.search(rf"{word}(?=\s*[(<\[=])", signature) or re.search(rf"{word}(?![\w$])", signature)
    )
    if not found:
        return f"{qualified} {signature}"
    return f"{signature[: found.start()]}{qualified}{signature[found.end() :]}"


def _first_line(content: str) -> str:
    return next((line for line in content.split("\n") if _WORD.search(line)), "")


def _first_sentence(docstring: str) -> str:
    words = _DOC_TAG.sub("", docstring).strip()
    paragraph = one_line(_PARAGRAPH_END.split(words, maxsplit=1)[0])
    sentence = _SENTENCE.match(paragraph)
    return one_line(truncate(sentence[0] if sentence else paragraph, _LONGEST, len))
