"""Split a text into units: sentences, lines, fences, tables, headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from contextkit.text.blocks import TextBlocks
from contextkit.text.graphemes import is_boundary
from contextkit.text.truncation import SENTENCE_END

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,}|(?:[-*_][ \t]*){3,}|([~^\"])\1{3,})\s*$")
_ESCAPED = re.compile(r"\\.")
_MARK = re.compile(r"[`*\[\]()]")
_CONTINUES = re.compile(r"\s*[a-z]")
_TILDES = re.compile(r"(?<=\n)~{4,}(?=\n)")
# Before an indented block: a reStructuredText directive, or any line that ends with a colon.
_ANNOUNCES = re.compile(r"\.\. |.{0,120}:\Z")
_STARTS_ANEW = re.compile(r"\s*(?:[-*+>|#.]|\d+[.)]|[^\s:]+(?: [^\s:]+)?: )|\s*$")

_DEFINES = re.compile(r":[ ]{1,3}\S")
"""The first line of a definition, which stands below its term, as options do in a manual."""

_FENCES = ("```", "~~~")
_BULLET = re.compile(r"[-*+](?:\s|$)")
_NUMBER = re.compile(r"\d{1,9}[.)](?:\s|$)")

_LONGEST_SENTENCE = 500
_SHORT_ANNOUNCEMENT = 200
"""Maximum length of a paragraph that stays with the fence below it."""

SHORT_BLOCK = 700
"""Maximum length of a paragraph or bullet list that is not split."""

_WRAPPED = 50
"""A line of this length continues in the next one, unless that starts something new."""


@frozen
class TextUnit:
    """A part of a text that is never divided.

    Attributes:
        text: the text, without white space around it.
        before: the white space before it.
        starts_line: whether it starts a line.
        is_block: whether it is a fence or a table.
        is_heading: whether it has no meaning by itself.
    """

    text: str
    before: str
    starts_line: bool
    is_block: bool = False
    is_heading: bool = False

    @property
    def is_list_item(self) -> bool:
        """Whether it starts a list item."""
        return _list_mark(self) is not None

    @property
    def is_code(self) -> bool:
        """Whether it is a fence or an indented block."""
        return self.is_indented or (self.is_block and self.text.lstrip()[:3] in _FENCES)

    @property
    def is_indented(self) -> bool:
        """Whether it is an indented block."""
        return self.is_block and self.text[:1].isspace()


def text_units(body: str, longest: int) -> list[TextUnit]:
    """Split a text into units, in order.

    Args:
        body: Markdown, XML character data or plain text.
        longest: maximum length of prose that is not split into sentences.
    """
    blocks = TextBlocks(_TILDES.sub(_underlining, body))
    units: list[TextUnit] = []
    before = block = prose = last = ""
    position = 0
    for line in [*_LINE.findall(body), ""]:
        bare = line.rstrip()
        end = position + len(line.rstrip("\r\n"))
        goes_on = bool(prose) and (_goes_on(last, bare) or _is_defined(prose, bare))
        is_block = line != "" and not (goes_on and _DEFINES.match(prose))
        is_block = is_block and _is_in_block(blocks, line, position, end)
        if prose and (is_block or not goes_on):
            units += _prose_units(prose.rstrip(), before, blocks, position - len(prose), longest)
            before, prose = _line_ends(prose), ""
        if block and not is_block:
            if units and block[0].isspace() and _ANNOUNCES.match(units[-1].text):
                units[-1] = evolve(units[-1], is_heading=True)
            units.append(TextUnit(block.rstrip(), before, starts_line=True, is_block=True))
            before, block = _line_ends(block), ""
        if is_block:
            block += line
        elif not bare:
            before += line
        elif _UNDERLINE.match(bare) and units and before.count("\n") == 1:
            _underline(units, before + bare)
            before = _line_ends(line)
        else:
            prose += line
        last = bare
        position += len(line)
    return units


def unit_blocks(units: Sequence[TextUnit], longest: int) -> list[range]:
    """Group units that must be read together.

    Return ranges of their positions.

    A numbered list is one block, and so is a short paragraph or bullet list if prose is not
    split. A unit that ends with a colon is in one block with the next unit.

    Args:
        units: the units of one text, in order.
        longest: as for `text_units`; 0 if sentences are separate.
    """
    blocks: list[range] = []
    for block in _runs(units):
        whole = _NUMBER.match(units[block[0]].text) is not None
        if whole or (longest and _length(units, block) <= SHORT_BLOCK):
            blocks.append(block)
        else:
            blocks += [range(place, place + 1) for place in block]
    joined: list[range] = []
    for block in blocks:
        if joined and _announces(units, joined[-1], block, longest):
            joined[-1] = range(joined[-1].start, block.stop)
        else:
            joined.append(block)
    return joined


def _announces(units: Sequence[TextUnit], block: range, following: range, longest: int) -> bool:
    """Whether a block cannot be understood without the next one.

    A line that ends with a colon introduces any block, a short paragraph only a fence. A term
    belongs to its definition.
    """
    last, first = units[block[-1]], units[following[0]]
    if last.is_heading or last.is_block:
        return False
    if first.starts_line and _DEFINES.match(first.text):
        return True
    is_short = longest and _length(units, block) <= _SHORT_ANNOUNCEMENT
    return last.text.endswith(":") or bool(is_short and first.is_block and not first.is_indented)


def _runs(units: Sequence[TextUnit]) -> Iterator[range]:
    """Yield runs of units that form a paragraph or list.

    Headings and blocks alone.
    """
    start, mark = 0, None
    for place, unit in enumerate(units):
        is_alone = unit.is_heading or unit.is_block
        own = None if is_alone else _list_mark(unit)
        parted = unit.before.count("\n") > 1
        if mark and not unit.is_heading:
            goes_on = own is mark or not parted or unit.text[:1].isspace()
        else:
            goes_on = not (is_alone or own or parted or _is_alone(units, place - 1))
        if place and not goes_on:
            yield range(start, place)
            start = place
        if not (place and goes_on):
            mark = own
    if units:
        yield range(start, len(units))


def _is_alone(units: Sequence[TextUnit], place: int) -> bool:
    return place >= 0 and (units[place].is_heading or units[place].is_block)


def _list_mark(unit: TextUnit) -> re.Pattern[str] | None:
    """The pattern of a unit's list item, or None."""
    if not unit.starts_line:
        return None
    return next((mark for mark in (_NUMBER, _BULLET) if mark.match(unit.text)), None)


def _length(units: Sequence[TextUnit], block: range) -> int:
    return sum(len(units[place].text) for place in block)


def _goes_on(last: str, line: str) -> bool:
    """Whether a line continues the previous line's prose."""
    return len(last) >= _WRAPPED and not (_HEADING.match(last) or _STARTS_ANEW.match(line))


def _is_defined(prose: str, line: str) -> bool:
    """Whether an indented line continues a definition."""
    return _DEFINES.match(prose) is not None and line.startswith((" ", "\t"))


def _prose_units(
    prose: str, before: str, blocks: TextBlocks, position: int, longest: int
) -> Iterator[TextUnit]:
    is_heading = _HEADING.match(prose) is not None
    if is_heading or len(prose) <= longest:
        yield TextUnit(prose, before, starts_line=True, is_heading=is_heading)
        return
    is_first = True
    for sentence in _sentences(prose, blocks, position):
        # The lines of a log are not sentences.
        is_log = len(sentence) > _LONGEST_SENTENCE
        for part in _LINE.findall(sentence) if is_log else [sentence]:
            text = part.strip()
            lead = before + part[: len(part) - len(part.lstrip())]
            above, line_end, indentation = lead.rpartition("\n")
            if is_first or line_end:
                yield TextUnit(f"{indentation}{text}", f"{above}{line_end}", starts_line=True)
            else:
                yield TextUnit(text, lead, starts_line=False)
            before, is_first = _line_ends(part), False


def _underline(units: list[TextUnit], underline: str) -> None:
    """Turn the last line into a heading."""
    line = ""
    while True:
        unit = units.pop()
        if unit.starts_line:
            break
        line = f"{unit.before}{unit.text}{line}"
    text = f"{unit.text}{line}{underline}"
    units.append(TextUnit(text, unit.before, starts_line=True, is_heading=True))


def _underlining(found: re.Match[str]) -> str:
    """Keep tildes that underline a heading from opening a fence.

    They underline a heading in reStructuredText.
    """
    start = found.string.rfind("\n", 0, found.start() - 1) + 1
    is_heading = found.start() - 1 - start == len(found[0])
    return "-" * len(found[0]) if is_heading else found[0]


def _line_ends(text: str) -> str:
    return text[len(text.rstrip()) :]


def _is_in_block(blocks: TextBlocks, line: str, start: int, end: int) -> bool:
    """Whether a line is in a fence, table or code."""
    return (
        _INDENTED.match(line) is not None
        or blocks.is_row_end(end)
        or blocks.before_span(end) != end
        or blocks.is_in_fence(start)
    )


def _sentences(line: str, blocks: TextBlocks, start: int) -> Iterator[str]:
    """Yield a line's sentences with the white space before them."""
    begin = read = 0
    marks = Counter[str]()
    has_marks = _MARK.search(line) is not None
    for found in SENTENCE_END.finditer(line):
        end = found.end()
        if has_marks:
            marks.update(_marks(line[read:end], starts_line=not read))
        read = end
        if (
            end < len(line)
            and not _CONTINUES.match(line, end)
            and is_boundary(line, end)
            and blocks.before_span(start + end) == start + end
            and (not has_marks or _is_balanced(marks))
        ):
            yield line[begin:end]
            begin = end
            marks.clear()
    yield line[begin:]


def _marks(text: str, *, starts_line: bool) -> Mapping[str, int]:
    """Count marks of emphasis, code spans and brackets."""
    bare = _ESCAPED.sub("", text)
    if starts_line and bare.lstrip()[:2] == "* ":
        bare = bare.lstrip()[2:]
    strong = bare.count("**")
    emphasis = bare.count("*") - 2 * strong
    return {"**": strong, "*": emphasis} | {mark: bare.count(mark) for mark in "`[]()"}


def _is_balanced(marks: Mapping[str, int]) -> bool:
    return (
        not any(marks[mark] % 2 for mark in ("`", "*", "**"))
        and marks["["] == marks["]"]
        and marks["("] == marks[")"]
    )
