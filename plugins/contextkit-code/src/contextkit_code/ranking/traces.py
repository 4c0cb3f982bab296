"""Parse a question's stack trace: frames, innermost first, and message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import field, frozen

from contextkit_code.ranking.mentions import Mention

_READ = 100_000
_MOST_FRAMES = 60
_LONGEST_LINE = 1_000
_MESSAGE_LINES = 4
"""Lines around the frames that may hold the message."""

_MOST_WORDS_BESIDE = 60
"""Most words beside a trace; with more, it's a report."""

_PYTHON = re.compile(
    r'\s*+File "(?P<path>[^"]{1,400}+)", line (?P<line>\d{1,7}+)(?:, in (?P<function>\S{1,200}+))?'
)
_GO = re.compile(r"\s++(?P<path>[^\s:]++):(?P<line>\d{1,7}+)(?: \+0x\w{1,16}+)?\s*+")
_AT = re.compile(r"\s*+at (?P<rest>\S.*)")
_JVM = re.compile(r"(?P<function>[^\s(]++)\((?P<path>[\w$-]++\.\w{1,9}+):(?P<line>\d{1,7}+)\)")
_PLACE = re.compile(
    r"(?P<path>[^\s():]++(?::[^\s():\d][^\s():]*+)?):(?P<line>\d{1,7}+)(?::\d{1,7}+)?"
)
_LINE_OF_DOTNET = re.compile(r":line (?P<line>\d{1,7}+)\s*+$")
_RUBY = re.compile(
    r"\s*+(?:from )?(?P<path>[^\s:]++):(?P<line>\d{1,7}+):in [`'](?P<function>[^`'\n]++)'"
)
_PANICKED = re.compile(r"\s*+thread '[^'\n]{0,99}+'.{0,20} panicked at (?P<rest>.*)")
_OUTPUT = re.compile(
    r"\s*+(?:--> )?(?P<path>[^\s():]++(?::[^\s():\d][^\s():]*+)?)"
    r"(?::(?P<line>\d{1,7}+)(?::\d{1,7}+)?|\((?P<row>\d{1,7}+),\d{1,7}+\))(?P<rest>:.*| - .*|)"
)
"""Match what compilers, linters and pytest say of a line."""

_PYTEST = re.compile(r":(?:\s++in (?P<function>[^\W\d]\w*+)|\s++\w*(?:Error|Exception)|)\s*+")
_FAILED = re.compile(r"\s*+--- FAIL: (?P<function>\w++)")
"""Match what Go writes above the lines of a failed test."""

_CALLED = re.compile(r"\s*+(?:\d{1,4}+: |created by )?(?P<function>\S.*)")
_CAUSE = re.compile(r"\s*+(?:Caused by:|\[?cause\]?:)|panic\(")
"""Match the line above the frames of a cause.

Above `panic(`, Go writes what it deferred.
"""

_PREFIX = re.compile(r"^ {0,20}+(?:[\w.-]{0,60}+ {0,9}+\||>) ?")
"""Match line prefixes: container logs, exception groups, quoted mail."""

_ARGUMENTS = re.compile(r"[(<\[].*")
_KEYWORD = re.compile(r"(?:async |new )")
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*")
_UNNAMED = re.compile(r"<(?!init>)[^(]*|^\s*\(")
"""Match unnamed functions: `<module>`, `Object.<anonymous>`, compiled lambdas."""

_BETWEEN_NAMES = re.compile(r"[.:#/$]+|->")


@frozen
class Frame:
    """A frame of a stack trace.

    Attributes:
        place: its file, line and function.
        owner: the class or the receiver's type of the function, or "".
        source: the line of code that the trace shows below it, or "".
    """

    place: Mention
    owner: str
    source: str = ""


@frozen
class Trace:
    """A stack trace.

    Attributes:
        frames: the frames, innermost first.
        message: the lines that may have the error's message.
        beside: the question without the lines of frames.
    """

    frames: Sequence[Frame]
    message: str
    beside: str = field(repr=False)

    @property
    def is_the_question(self) -> bool:
        """Return whether the trace is most of the question.

        A long report is about its title.
        """
        return len(self.beside.split()) <= _MOST_WORDS_BESIDE


def trace_in(query: str) -> Trace | None:
    """Parse a question's stack trace; None without one.

    Only the first 100,000 characters are read.
    """
    lines = [_PREFIX.sub("", line[:_LONGEST_LINE], 1) for line in query[:_READ].splitlines()]
    found: dict[int, Frame] = {}
    taken: set[int] = set()
    innermost_last, test = False, ""
    for number, line in enumerate(lines):
        if failed := _FAILED.match(line):
            test = failed["function"]
        above = lines[number - 1] if number else ""
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if python := _PYTHON.match(line):
            source = below.strip() if below[:1].isspace() and not _PYTHON.match(below) else ""
            found[number] = _frame(python["path"], python["line"], python["function"] or "", source)
            taken |= {number, number + 1} if source else {number}
            innermost_last = True
        elif other := _other(line, above):
            frame, has_name_above = other
            found[number] = frame
            taken |= {number, number - 1} if has_name_above else {number}
        elif output := _OUTPUT.fullmatch(line):
            pytest = _PYTEST.fullmatch(output["rest"]) if output["rest"] else None
            function = pytest["function"] if pytest else test
            found[number] = _frame(output["path"], output["line"] or output["row"], function or "")
            taken.add(number)
            innermost_last = innermost_last or pytest is not None
    frames = [frame for frame in found.values() if frame.place.parts]
    if not frames:
        return None
    order = _innermost_first(found, lines, innermost_last=innermost_last)
    first, last = min(taken), max(taken)
    around = (
        *range(max(0, first - _MESSAGE_LINES), first),
        *range(last + 1, min(len(lines), last + 1 + _MESSAGE_LINES)),
        *(number for number, line in enumerate(lines) if _CAUSE.match(line)),
    )
    return Trace(
        frames=[frame for frame in order if frame.place.parts][:_MOST_FRAMES],
        message="\n".join(lines[number] for number in around),
        beside="\n".join(line for number, line in enumerate(lines) if number not in taken),
    )


def _innermost_first(
    found: dict[int, Frame], lines: Sequence[str], *, innermost_last: bool
) -> list[Frame]:
    """Sort frames innermost first, those of the last cause leading.

    Python writes the innermost frame last.
    """
    if innermost_last:
        return [*found.values()][::-1]
    blocks: list[list[Frame]] = [[]]
    for number, line in enumerate(lines):
        if _CAUSE.match(line):
            blocks.append([])
        if number in found:
            blocks[-1].append(found[number])
    return [frame for block in reversed(blocks) for frame in block]


def _other(line: str, above: str) -> tuple[Frame, bool] | None:
    """Parse a non-Python frame.

    Also return whether the line above has its function.
    """
    if at := _AT.fullmatch(line):
        return _at(at["rest"], above)
    if panicked := _PANICKED.fullmatch(line):
        place = _PLACE.fullmatch(panicked["rest"].rpartition(" ")[2].rstrip(":"))
        return (_frame(place["path"], place["line"], ""), False) if place else None
    if ruby := _RUBY.match(line):
        return _frame(ruby["path"], ruby["line"], ruby["function"]), False
    go = _GO.fullmatch(line)
    if go and go["path"].endswith(".go") and above.rstrip().endswith(")"):
        called = _CALLED.match(above)
        return _frame(
            go["path"], go["line"], _go_function(called["function"] if called else "")
        ), True
    return None


def _at(rest: str, above: str) -> tuple[Frame, bool] | None:
    if jvm := _JVM.match(rest):
        function = jvm["function"].rpartition("/")[2]
        package = "/".join(function.split(".")[:-2])
        return _frame(f"{package}/{jvm['path']}", jvm["line"], function), False
    if numbered := _LINE_OF_DOTNET.search(rest):
        function, _, path = rest[: numbered.start()].rpartition(" in ")
        return _frame(path, numbered["line"], function), False
    function, _, last = rest.rstrip(" ,{").rpartition(" ")
    place = _PLACE.fullmatch(last.removeprefix("(").removesuffix(")"))
    if place is None:
        return None
    if not function and place["path"].endswith(".rs"):
        called = _CALLED.match(above)
        return _frame(place["path"], place["line"], called["function"] if called else ""), True
    return _frame(place["path"], place["line"], _KEYWORD.sub("", function)), False


def _go_function(text: str) -> str:
    """Normalize a Go function's name.

    `github.com/gin-gonic/gin.(*node).addRoute(0x…)` becomes `gin.node.addRoute`.
    """
    name = text.rpartition("/")[2].replace("(*", "").replace(").", ".")
    return re.sub(r"\.func\d.*", "", name)


def _frame(path: str, line: str, function: str, source: str = "") -> Frame:
    *folders, name = [
        part
        for part in path.replace("\\", "/").split("/")
        if part and part not in (".", "..", "~") and not part.endswith(":")
    ] or [""]
    stem, dot, ending = name.rpartition(".")
    called = "" if _UNNAMED.search(function) else _ARGUMENTS.sub("", function).strip()
    names = [each for each in _BETWEEN_NAMES.split(called) if _IDENTIFIER.fullmatch(each)]
    own = names[-1] if names else ""
    parts = (*folders, stem) if dot and stem else ()
    place = Mention(parts, ending, int(line), own, 0)
    owner = names[-2] if own and len(names) > 1 else ""
    return Frame(place, owner, source)
