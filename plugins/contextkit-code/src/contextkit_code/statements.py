"""Split code into statements by lines and indentation.

No parser is used: a unit is often a part of a file, in a language without a grammar, or broken.
Lines that are spanned by brackets, strings and comments are joined, and indentation gives the
nesting. One pass, linear in the length of the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, evolve, field, frozen

_JOINED_ROWS = 10
"""Most rows of brackets or strings that form one statement.

Longer ones are a block of several statements.
"""

_SHORT_BLOCK_ROWS = 3
"""Most rows of a braced block joined to its header."""

_HASH_LANGUAGES = """
bash cmake crystal dockerfile elixir graphql hcl ini julia just make makefile meson nim nix perl
powershell properties python r ruby starlark tcl terraform text toml yaml
"""
_HASH = frozenset(_HASH_LANGUAGES.split())
"""Languages with `#` comments; others have `//` and `/* */`."""

_DASHES = frozenset({"elm", "haskell", "lua", "purescript", "sql", "vhdl"})
_LISPS = frozenset({"clojure", "elisp", "lisp", "racket", "scheme"})
_OCAML = frozenset({"ocaml", "ocaml_interface"})
_CHARACTER_LANGUAGES = """
c cpp csharp go haskell java julia kotlin objectivec ocaml ocaml_interface rust scala swift zig
"""
_CHARACTERS = frozenset(_CHARACTER_LANGUAGES.split()) | _LISPS
"""Languages whose single quotes hold one character, or mark lifetimes and the like."""

_DATA = frozenset({"css", "html", "ini", "json", "text", "toml", "xml", "yaml"})
"""Languages without operators that continue a line."""

_WITHOUT_COMMENTS = frozenset({"", "css", "html", "json", "markdown", "xml"}) | _OCAML
_BY_INDENTATION = frozenset({"elm", "haskell", "nim", "purescript", "python", "starlark", "yaml"})
"""Languages whose braces hold values, not statements."""

_CASES_BESIDE = frozenset(
    {
        *("c", "cpp", "csharp", "dart", "go", "java", "javascript", "objectivec", "php", "swift"),
        *("tsx", "typescript"),
    }
)
"""Languages in which a `case` has its statement's indentation."""

_CHAINED = re.compile(r"[})\]]*\s*(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b")
_CASE = re.compile(r"(?:case|default)\b")
_CLOSES = re.compile(r"(?:[)\]}]++[);,]*+|(?:end|fi|done|esac)\b[);,]*+)$")
_LEADS = re.compile(r"@\w|#!?\[")
_CONTINUES = re.compile(r"(?:\?\.|\.(?=\w)|&&|\|[|>]|[?+](?![?+])|=>)")
_IS_CONTINUED = re.compile(r"(?:&&|\|\||(?<![=<>!])=|(?<!\+)\+|\\|\b(?:and|or))$")
_HEADING = re.compile(r"#{1,6}\s")
_ITEM = re.compile(r"[-*+]\s|\d{1,3}[.)]\s|:\w[^:`\n]*+:(?!`)|@\w|[A-Z]\w+:$|>>>")
_ENDS = re.compile(r"[.!?:。！？]\s*$")
_OPENERS = {")": "(", "]": "[", "}": "{"}


@frozen
class Statement:
    """A statement, block header, or run of comment lines.

    Attributes:
        first: its first row.
        last: its last row.
        indent: the width of the white space before its first word.
        needs: the numbers of the statements that must be shown with it: the header that encloses
            it, the `if` of an `else`, the code that a comment or decorator is for. Theirs are
            needed in turn.
        depth: how many headers enclose it.
        says: whether it has code; False for comments and for lines that only close a block.
        closes: the number of the statement whose block it closes, or None.
    """

    first: int
    last: int
    indent: int
    needs: tuple[int, ...]
    depth: int
    says: bool
    closes: int | None = None


def statements(rows: Sequence[str], language: str) -> list[Statement]:
    """Return the statements of code in order, without blank rows.

    Args:
        rows: the lines of the code.
        language: the name of its language; one without rules of its own is read like C.
    """
    scan = _Scan.of(rows, language)
    found = _Nesting(language)
    start = 0
    for row in range(1, len(rows) + 1):
        if row < len(rows) and scan.joined[row]:
            continue
        if rows[start].strip():
            found.add(rows, start, row - 1, any(scan.says[start:row]))
        start = row
    return found.statements


def comment_sign(language: str) -> str:
    """Return the mark of a line comment.

    "" for prose, and for what has none.
    """
    if language in _HASH:
        return "" if language == "text" else "#"
    if language in _DASHES:
        return "--"
    if language in _LISPS:
        return ";"
    if language == "erlang":
        return "%"
    return "" if language in _WITHOUT_COMMENTS else "//"


def paragraphs(rows: Sequence[str]) -> list[Statement]:
    """Return the sentences of prose as runs of whole rows.

    A Markdown heading goes with each sentence below it.
    """
    found: list[Statement] = []
    heading: tuple[int, ...] = ()
    start: int | None = None
    for row, line in enumerate(rows):
        words = line.strip()
        if not words:
            start = None
            continue
        is_heading = _HEADING.match(words) is not None
        if start is None or is_heading or _ITEM.match(words) or _ENDS.search(rows[row - 1]):
            start = row
            found.append(Statement(row, row, 0, () if is_heading else heading, 0, not is_heading))
        else:
            found[-1] = Statement(start, row, 0, found[-1].needs, 0, True)
        if is_heading:
            heading, start = (len(found) - 1,), None
    return found


@define
class _Nesting:
    """Nests statements below the headers that enclose them."""

    language: str
    statements: list[Statement] = field(factory=list)
    _above: list[int] = field(factory=list)
    _heads: dict[int, int] = field(factory=dict)
    _waiting: list[int] = field(factory=list)

    def add(self, rows: Sequence[str], first: int, last: int, says: bool) -> None:
        """Add the statement of these rows."""
        number, line = len(self.statements), rows[first].expandtabs(4)
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        sibling: int | None = None
        while self._above and self.statements[self._above[-1]].indent >= indent:
            popped = self._above.pop()
            sibling = popped if self.statements[popped].indent == indent else None
        needs = self._above[-1:]
        closes = None
        if sibling is not None and _CLOSES.match(words):
            closes, says = self._heads.get(sibling, sibling), False
            needs.append(closes)
        elif sibling is not None and self._is_chained(words):
            self._heads[number] = self._heads.get(sibling, sibling)
            needs.append(self._heads[number])
        self.statements.append(
            Statement(first, last, indent, tuple(needs), len(self._above), says, closes)
        )
        self._lead(number, words, indent, says)
        if says or closes is not None:
            self._above.append(number)

    def _is_chained(self, words: str) -> bool:
        if _CHAINED.match(words):
            return True
        return self.language in _CASES_BESIDE and _CASE.match(words) is not None

    def _lead(self, number: int, words: str, indent: int, says: bool) -> None:
        """Make a statement need the comments and decorators above it."""
        # In Ruby, `@name` is a variable.
        leads = not says or (self.language != "ruby" and _LEADS.match(words) is not None)
        if says:
            for each in self._waiting:
                waiting = self.statements[each]
                if waiting.indent == indent:
                    self.statements[each] = evolve(waiting, needs=(*waiting.needs, number))
            self._waiting.clear()
        if leads and self.statements[number].closes is None:
            self._waiting.append(number)


@frozen
class _Scan:
    """Finds joined rows, and rows with code beside comments."""

    joined: Sequence[bool]
    says: Sequence[bool]

    @classmethod
    def of(cls, rows: Sequence[str], language: str) -> _Scan:
        joined, says = [False] * len(rows), [False] * len(rows)
        braces_hold_values = language in _BY_INDENTATION
        code = [""] * len(rows)
        for kind, first, last, text in _spans("\n".join(rows), _pattern(language)):
            if kind in {"code", "string"}:
                says[first : last + 1] = [True] * (last + 1 - first)
            if kind == "code":
                code[first] = text
            else:
                code[first] = code[last] = ""
            most = _JOINED_ROWS
            if kind == "{" and not braces_hold_values and not _holds_values(code, first, last):
                most = _SHORT_BLOCK_ROWS
            if first < last and (kind == "comment" or last - first < most):
                joined[first + 1 : last + 1] = [True] * (last - first)
        for row in range(1, len(rows)):
            if not says[row] and not says[row - 1] and rows[row].strip() and rows[row - 1].strip():
                joined[row] = joined[row] or _indent(rows[row]) == _indent(rows[row - 1])
            elif says[row] and says[row - 1] and language not in _DATA:
                continues = not braces_hold_values and _CONTINUES.match(rows[row].lstrip())
                is_continued = _IS_CONTINUED.search(code[row - 1])
                joined[row] = joined[row] or bool(continues or is_continued)
        return cls(joined, says)


def _holds_values(code: Sequence[str], first: int, last: int) -> bool:
    """Return whether braces hold values instead of statements.

    Their first or last row then ends in a comma.
    """
    return last - first > 1 and (code[first + 1].endswith(",") or code[last - 1].endswith(","))


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())]


def _spans(code: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, int, int, str]]:
    """Yield code, comments, strings and closed bracket pairs with rows.

    Yields:
        The kind (`code`, `comment`, `string`, or an opening bracket), the first and the last
        row, and the text.
    """
    row = 0
    open_ones: list[tuple[str, int]] = []
    for found in pattern.finditer(code):
        text, kind = found[0], found.lastgroup or "code"
        if kind == "end":
            row += 1
        elif kind == "open":
            open_ones.append((text, row))
            yield "code", row, row, text
        elif kind == "close":
            yield "code", row, row, text
            # Where brackets do not match, as in a part of a file, take the last one that fits.
            for place in range(len(open_ones) - 1, max(-1, len(open_ones) - 4), -1):
                if open_ones[place][0] == _OPENERS[text]:
                    opened = open_ones[place][1]
                    del open_ones[place:]
                    yield _OPENERS[text], opened, row, ""
                    break
        else:
            last = row + text.count("\n")
            yield kind, row, last, text
            row = last


_END = r"(?P<end>\n)"
_BRACKETS = r"(?P<open>[(\[{])|(?P<close>[)\]}])"
_TRIPLE = (
    r"\"\"\"(?>(?:[^\\\"]|\\.|\"(?!\"\"))*)(?:\"\"\"|\Z)"
    r"|'''(?>(?:[^\\']|\\.|'(?!''))*)(?:'''|\Z)"
)
_DOUBLE = r"\"(?>(?:[^\"\\\n]|\\.)*)\"?"
_SINGLE = r"'(?>(?:[^'\\\n]|\\.)*)'?"
_CHARACTER = r"'(?:\\[^\n']{1,8}|[^'\\\n])'"
_BACKTICK = r"`(?>(?:[^`\\]|\\.)*)(?:`|\Z)"
_C_COMMENT = r"//[^\n]*+|/\*(?>(?:[^*]|\*(?!/))*)(?:\*/|\Z)"
_HASH_COMMENT = r"(?<![\w$&{])\#(?!\[)[^\n]*+"
_DASH_COMMENT = r"--[^\n]*+"
_JULIA_COMMENT = rf"\#=(?>(?:[^=]|=(?!\#))*)(?:=\#|\Z)|{_HASH_COMMENT}"
_OCAML_COMMENT = r"\(\*(?>(?:[^*]|\*(?!\)))*)(?:\*\)|\Z)"
_PERL_COMMENT = rf"(?m:^)=[a-z](?>(?:[^\n]|\n(?!=cut))*)(?:\n=cut[^\n]*+|\Z)|{_HASH_COMMENT}"
_POWERSHELL_COMMENT = rf"<\#(?>(?:[^#]|\#(?!>))*)(?:\#>|\Z)|{_HASH_COMMENT}"


def _pattern(language: str) -> re.Pattern[str]:
    kind = "#" if language in _HASH else "-" if language in _DASHES else "/"
    return _PATTERNS[language if language in _PATTERNS else kind][language in _CHARACTERS]


def _compiled(comment: str, single: str, more: str) -> re.Pattern[str]:
    string = "|".join(filter(None, (_TRIPLE, _DOUBLE, single, more)))
    code = r"(?P<code>[^\s\"'`#/\-()\[\]{}]++|\S)"
    return re.compile(
        f"{_END}|(?P<comment>{comment})|(?P<string>{string})|{_BRACKETS}|{code}", re.DOTALL
    )


_PATTERNS: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    kind: (_compiled(comment, _SINGLE, more), _compiled(comment, _CHARACTER, more))
    for kind, comment, more in (
        ("#", _HASH_COMMENT, ""),
        ("-", _DASH_COMMENT, ""),
        ("erlang", r"%[^\n]*+", ""),
        ("julia", _JULIA_COMMENT, ""),
        *((language, r";[^\n]*+", "") for language in sorted(_LISPS)),
        *((language, _OCAML_COMMENT, "") for language in sorted(_OCAML)),
        ("perl", _PERL_COMMENT, ""),
        ("powershell", _POWERSHELL_COMMENT, ""),
        ("/", _C_COMMENT, _BACKTICK),
    )
}
