"""Putting text that others wrote into Markdown, XML and plain text so that it stays text.

| what is put where | Markdown | XML | plain |
|---|---|---|---|
| lines that others wrote, on lines of their own | `markdown_text` | `escape_xml` | indented |
| one line of words, anywhere | `line_start_safe` | `escape_xml` | `plain_line` |
| a name, within emphasis too | `escape_markdown` | `escape_xml` | `one_line` |
| a path or a place, to be copied as it is | `code_span` | `escape_xml` | `one_line` |
| code | `fenced` | `escape_xml` | indented |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextkit.text.clean import legible, visible
from contextkit.text.derived import cached_by_text

_BACKTICKS = re.compile("`+")
_NOT_IN_LANGUAGE = re.compile(r"[\s`|\x00-\x1f\x7f-\x9f]+")
# `\s` of a str pattern has every Unicode space and line end; the ranges add the controls.
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_XML_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}
)
_PLAIN_TITLE = re.compile("^(?:===|---)", re.MULTILINE)

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_ENTITY_NAME = r"\#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6});|[A-Za-z][A-Za-z0-9]{1,31};"
_ENTITY = rf"&(?={_ENTITY_NAME})"
_TAG = r"<(?=[A-Za-z/!?])"
_NO_AUTOLINK = r"(?!https?://[^\s<>]+>|[A-Za-z0-9][A-Za-z0-9_.+-]*@[A-Za-z0-9.-]+>)"
# What would not be shown as it stands, beside emphasis and code.
_SPECIAL = rf"\\(?=[!-/:-@\[-`{{-~]|$) | ~{{2,}} | {_TAG} | {_ENTITY} | (?<=\])\("

# Most characters are none of these: a look at one first halves the time.
_IN_NAME = re.compile(
    rf"(?=[`*_\\~<&(]) (?:`+ | \*+ | (?<!\w)_++ | _++(?!\w) | {_SPECIAL})", re.VERBOSE
)
_IN_LINE = re.compile(
    rf"(?=[`*_\\~<&(]) (?:{_CODE_SPAN} | (?P<emphasis>\*+|_+) | ` | {_SPECIAL})", re.VERBOSE
)
# Beginning with the characters themselves, a search skips whatever is none of them.
_IN_TEXT = re.compile(
    rf"""[`\\<&!]
    (?: (?<=`)(?<!``)(?P<ticks>`*+).*?(?<!`)`(?P=ticks)(?!`)  # a code span
    | (?<=\\).
    | (?P<special> (?<=`) | (?<=<)(?=[A-Za-z/!?]){_NO_AUTOLINK} | (?<=&)(?={_ENTITY_NAME})
        | (?<=!)(?=\[) ))""",
    re.VERBOSE,
)

# A line of only these is the line under a heading or under a table's head, or a rule.
_UNDERLINE = r"[-=|:][-=|: \t]*+$ | (?=(?:[*_][ \t]*+){3})(?:\*[* \t]*+|_[_ \t]*+)$"
_HEADING = r"\#{1,6}(?=[ \t]|$)"
_LINE_OPENER = re.compile(rf"{_HEADING} | > | [-+*](?=\ |$) | {_UNDERLINE}", re.VERBOSE)
_NUMBERED_LIST = re.compile(r"(\d{1,9})(?=[.)](?: |$))")
# The first opener behind as few list markers as can be: `* * *` is a rule. Where one is told by
# all of a line, a run of one marker is looked at once. Emphasis there looks like the lines that
# stand around a text.
_TEXT_OPENER = re.compile(
    rf"""\n[ \t]*+ (?=[\d\#>|=:`~*_+\[-])
    (?:(?:-[ \t]++)+(?!-[ \t])|(?:\*[ \t]++)+(?!\*[ \t])|(?:\+[ \t]++)+(?!\+[ \t])
    |\d{{1,9}}[.)][ \t]++)*?
    (?P<opener>{_HEADING} | > | {_UNDERLINE} | `{{3,}} | ~{{3,}} | [*_](?![ \t]) | \[)""",
    re.VERBOSE | re.MULTILINE,
)


def fence_for(text: str) -> str:
    """A backtick fence that `text` cannot close.

    Args:
        text: what will stand inside it.

    Returns:
        At least three backticks, and more than any run of them in `text`.
    """
    if "```" not in text:
        return "```"
    return "`" * (max(map(len, _BACKTICKS.findall(text))) + 1)


def fenced(text: str, language: str = "") -> str:
    """Return `text` as a Markdown code block that it cannot close.

    Args:
        text: the block's content; one line end at its end is not doubled.
        language: the language named on the opening fence; white space, controls,
            backticks and bars, which could end it or make a table, are left out.

    Returns:
        The block, without a line end after its closing fence.
    """
    fence = fence_for(text)
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{fence}{_NOT_IN_LANGUAGE.sub('', language)}\n{body}{fence}"


def code_span(text: str) -> str:
    """Return `text` as a Markdown code span that it cannot close.

    Nothing in it is escaped, so that a path can be copied.

    Args:
        text: a path or a place; it is put on one line.

    Returns:
        The span; nothing for a text without a visible character.
    """
    line = one_line(text)
    if not line:
        return ""
    mark = "`" * (max(map(len, _BACKTICKS.findall(line)), default=0) + 1)
    pad = " " if "`" in line else ""
    return f"{mark}{pad}{line}{pad}{mark}"


def escape_xml(text: str) -> str:
    """Escape `text` for an XML element or a quoted attribute.

    Invisible characters, among them all that XML 1.0 cannot hold, are shown as
    `contextkit.text.clean.visible` shows them.

    Args:
        text: any text.

    Returns:
        Text that an XML parser reads back as `visible(text)`.
    """
    return visible(text).translate(_XML_ENTITIES)


def one_line(text: str) -> str:
    """`text` on one line: every run of white space and controls becomes one space.

    Behind anything else on its line it cannot open a Markdown block; for the start of a
    line there is `line_start_safe`.

    Args:
        text: any text.

    Returns:
        The line, with no white space at either end.
    """
    # Most names and paths need no change, and these two checks are faster than the pattern.
    if "  " in text or not text.isprintable():
        text = _BLANKS.sub(" ", text)
    return text.strip(" ")


def plain_line(text: str) -> str:
    r"""Return `text` on one line that cannot pass for a title in plain text.

    Args:
        text: any text.

    Returns:
        `one_line(text)`, with a backslash before `===` or `---` at its start.
    """
    return plain_text(one_line(text))


def plain_text(text: str) -> str:
    r"""Return text whose lines cannot pass for titles in plain text.

    Args:
        text: any text.

    Returns:
        The text, with a backslash before `===` or `---` at the start of a line.
    """
    return _PLAIN_TITLE.sub(r"\\\g<0>", text)


def escape_markdown(text: str) -> str:
    r"""Escape a name or a path within a line of Markdown.

    A backslash stands before every backtick, asterisk and underscore but those within a
    word, and before what would be a tag, an entity, a link or an escape: `__init__.py`
    becomes `\_\_init\_\_.py`, `snake_case` stays. It may stand within emphasis.

    Args:
        text: any text on one line.

    Returns:
        The text; a Markdown parser reads it back as it was.
    """
    return _IN_NAME.sub(lambda found: _backslashed(found[0]), text)


def line_start_safe(text: str) -> str:
    r"""Escape words for one line of Markdown, at its start or behind something else.

    Code spans stay. Whatever else CommonMark would not show as it stands has a backslash:
    what opens a block at the start of a line (`# a` becomes `\# a`), asterisks and
    underscores that would emphasise, tags, entities, links, escapes. What surrounds it
    must end its own emphasis.

    Args:
        text: any text.

    Returns:
        `one_line(text)`, escaped; a Markdown parser sees words and code spans alone.
    """
    line = one_line(legible(text))
    emphasis = _emphasis(line)

    def escaped(found: re.Match[str]) -> str:
        if found["ticks"] or (found["emphasis"] and found.start() not in emphasis):
            return found[0]
        return _backslashed(found[0])

    inline = _IN_LINE.sub(escaped, line)
    if _LINE_OPENER.match(line) or (line.startswith("[") and "]:" in line):
        return f"\\{inline}"
    return _NUMBERED_LIST.sub(r"\1\\", inline, count=1) if _NUMBERED_LIST.match(line) else inline


def markdown_text(text: str, *, behind_label: bool = False) -> str:
    r"""Return untrusted Markdown that cannot break out of its place.

    Its lists, its indented code, and its emphasis, code spans and links within a line
    stay. A backslash stands before whatever would open another block (a heading, a quote,
    a rule, a fence, a table, a link definition), before emphasis at the start of a line,
    which looks like the lines around it, before HTML, entities and images, and before
    backticks that no others on their line close. Doing it again changes nothing.

    Args:
        text: any text.
        behind_label: whether its first line stands behind other words, where no block
            can begin.

    Returns:
        The text with as many lines, each ended by a line feed but the last.
    """
    return _without_openers(legible(text)) if behind_label else _on_own_lines(text)


@cached_by_text
def _on_own_lines(text: str) -> str:
    # Openers are looked for behind line ends: there is none behind a label.
    return _without_openers(f"\n{legible(text)}").removeprefix("\n")


def _without_openers(text: str) -> str:
    has_definition = "]:" in text

    def opener_escaped(found: re.Match[str]) -> str:
        opener = found["opener"]
        if opener == "[" and not has_definition:
            return found[0]
        # Of a fence, all of it: what is left could begin a code span.
        escaped = _backslashed(opener) if opener[0] in "`~" else f"\\{opener}"
        return found[0].removesuffix(opener) + escaped

    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = _TEXT_OPENER.sub(opener_escaped, lines)
    # Most prose has none of these, and four searches take a fraction of the pattern's time.
    if "`" in lines or "<" in lines or "&" in lines or "!" in lines:
        return _IN_TEXT.sub(_special_escaped, lines)
    return lines


def _backslashed(characters: str) -> str:
    return "".join(f"\\{character}" for character in characters)


def _special_escaped(found: re.Match[str]) -> str:
    return found[0] if found["special"] is None else f"\\{found[0]}"


def _emphasis(line: str) -> frozenset[int]:
    """Where the runs of asterisks and underscores begin that another one can pair with."""
    runs = list(_runs(line))
    first = {mark: start for start, mark, opens, _ in reversed(runs) if opens}
    last = {mark: start for start, mark, _, closes in runs if closes}
    return frozenset(
        start
        for start, mark, opens, closes in runs
        if (opens and start < last.get(mark, -1)) or (closes and start > first.get(mark, start))
    )


def _runs(line: str) -> Iterator[tuple[int, str, bool, bool]]:
    """Runs of asterisks and underscores: place, character, whether one can open, can close.

    Where a character's kind is in doubt, a run can do what it could with either kind.
    """
    for found in _IN_LINE.finditer(line):
        if not found["emphasis"]:
            continue
        mark = found[0][0]
        before = line[found.start() - 1 : found.start()] or " "
        after = line[found.end() : found.end() + 1] or " "
        if mark == "_" and before.isalnum() and after.isalnum():
            continue
        yield found.start(), mark, _flanks(after, before), _flanks(before, after)


def _flanks(inner: str, outer: str) -> bool:
    """Whether a run may stand at the edge of emphasis that has `inner` inside."""
    return inner != " " and (inner not in _PUNCTUATION or not outer.isalnum())
