"""Read manual pages, which are written in roff with the macros of `man` or `mdoc`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextkit_documents.headings import Heading, Outline

_MACRO = re.compile(r"[.'][ \t]*(?P<name>[A-Za-z][A-Za-z0-9]{0,2})\b[ \t]*(?P<rest>.*)")
_COMMENT = re.compile(r"[.']?[ \t]*\\[\"#].*|[.'][ \t]*$")
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_BLOCKS = frozenset({"HP", "IP", "It", "LP", "P", "PP", "Pp", "TP", "TQ"})
_TAGGED = frozenset({"TP", "TQ"})
"""Macros before an item of a list, which is the next line."""

_LAYOUT = re.compile(
    r"B[dkl]|D[dt]|E[EXdkl]|HP|LP|P|PD|PP|Os|Pp|R[ES]|Sp|T[HPQg]|V[be]|ad|br|d[es]|f[it]|hy|i[efn]"
    r"|n[aefhr]|s[op]|t[air]"
)
"""Macros whose arguments are no text."""

# Of mdoc: what a line's words are, such as an argument (`Ar`).
_CALLS = re.compile(
    r"(?<!\S)(?:A[cdnopqrt]|B[coqx]|Br[coq]|Cm|D[1lqvx]|Dq|E[mnrv]|F[acdnor]|I[cn]|L[bik]|M[st]|Nd"
    r"|No|Ns|O[cop]|P[acfoq]|Q[cloq]|S[coqxy]|T[an]|U[dx]|V[at]|X[cor])(?!\S)[ \t]*"
)
_FLAG = re.compile(r"(?<!\S)Fl[ \t]+(?=\w)")
_FONT = re.compile(r"\\(?:f(?:\[\w*\]|\(\w\w|\w)|s[-+]?\d|[&,/|^:%])")
_CHARACTERS = {
    "aq": "'",
    "bu": "- ",
    "cq": "'",
    "dq": '"',
    "em": "-",
    "en": "-",
    "ga": "`",
    "ha": "^",
    "lq": '"',
    "mi": "-",
    "oq": "'",
    "rq": '"',
    "rs": "\\",
    "ti": "~",
}
_NAMED = re.compile(r"\\(?:\[(\w+)\]|\((\w\w))")
_ESCAPED = re.compile(r"\\(.)")
_EXAMPLE = {"Bd": True, "Ed": False, "EX": True, "EE": False, "nf": True, "fi": False}
"""What begins an example, and what ends it."""

_DISPLAYED = frozenset({"D1", "Dl"})
"""Macros of an example of one line."""

_FILLED = ("-filled", "-ragged", "-centered")
_INDENT, _ITEM = "    ", "- "
_STARTS = (_INDENT, _ITEM)
_BLANK_LINES = re.compile(r"\n+(?=\n)")
_SPACED = re.compile(r"(?<=\S) (?=[,.;:)](?:\s|$))|(?<=\() ", re.MULTILINE)
"""Spaces beside punctuation, which is a word of its own in `mdoc`."""

_FIRST = re.compile(r'"((?>(?:[^"]+|"")*))"|(\S+)')
_QUOTED = re.compile(r'"((?>(?:[^"]+|"")*))"')


def manual_outline(lines: Sequence[str]) -> Outline:
    """Parse the headings and paragraphs of a manual page."""
    macros = [(row, found) for row, line in enumerate(lines) if (found := _MACRO.match(line))]
    return Outline(
        [
            Heading(_plain(_arguments(found)).strip(), _HEADINGS[found["name"]], row, row + 1)
            for row, found in macros
            if found["name"] in _HEADINGS
        ],
        frozenset(row for row, found in macros if found["name"] in _BLOCKS),
    )


def manual_text(lines: Sequence[str]) -> Iterator[str]:
    """Yield a manual page's lines as plain text, a line for each.

    Lines of comments and of layout are empty. An item of a list begins with a dash, and a line of
    an example with spaces.
    """
    program, is_example, is_tag = "", False, False
    for line in lines:
        found = _MACRO.match(line)
        follows_tag, is_tag = is_tag, found is not None and found["name"] in _TAGGED
        if found and found["name"] in _EXAMPLE:
            is_example = _EXAMPLE[found["name"]] and found["rest"] not in _FILLED
        if _COMMENT.fullmatch(line) or (found and _LAYOUT.fullmatch(found["name"])):
            yield ""
        elif is_example:
            yield f"{_INDENT}{_plain(found['rest'] if found else line)}"
        elif found is None:
            yield f"{_ITEM if follows_tag else ''}{_plain(line)}"
        else:
            text = _plain(_FLAG.sub("-", _CALLS.sub("", _arguments(found))))
            if found["name"] == "Nm":
                # The first one tells the program's name, which the others stand for.
                program = program or text
                text = text if text and text[0].isalnum() else f"{program} {text}".strip()
            elif found["name"] == "Fl":
                text = f"-{text}"
            elif found["name"] in _DISPLAYED:
                text = f"{_INDENT}{text}"
            begins = follows_tag or found["name"] == "It" or (found["name"] == "IP" and text)
            yield f"{_ITEM}{text.removeprefix(_ITEM)}" if begins else text


def reflowed(text: str) -> str:
    """Join the lines of a manual page's paragraphs, which macros separate."""
    joined = [""]
    for line in text.split("\n"):
        last = joined[-1]
        if not line.strip():
            joined.append("")
        elif last == _ITEM:
            joined[-1] += line
        elif not last or last.startswith(_STARTS) or line.startswith(_STARTS):
            joined.append(line)
        else:
            joined[-1] += f" {line}"
    return _BLANK_LINES.sub("\n", _SPACED.sub("", "\n".join(joined))).strip("\n")


def _arguments(macro: re.Match[str]) -> str:
    """Return a macro's arguments, without quotes and without the indentation of a list."""
    if macro["name"] == "IP":
        first = _FIRST.match(macro["rest"])
        return "" if first is None else first[1] or first[2] or ""
    return _QUOTED.sub(lambda found: found[1].replace('""', '"'), macro["rest"])


def _plain(text: str) -> str:
    text = _FONT.sub("", text)
    text = _NAMED.sub(lambda found: _CHARACTERS.get(found[1] or found[2], ""), text)
    return _ESCAPED.sub(lambda found: {"e": "\\", "~": " ", "0": " "}.get(found[1], found[1]), text)
