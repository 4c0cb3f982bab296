"""Values behind a name such as `password=`, and what commands take as passwords.

Names are found by plain searches for a few words, and what stands around each is matched
there, over at most some hundred characters.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from attrs import frozen

from contextkit.text.secrets.issued import is_example, looks_random
from contextkit.text.secrets.span import SecretSpan, compiled

_PASSWORD = "password"  # noqa: S105 - what it is called
_KEY = "key or token"

# Word that is searched for -> the whole word, and what it names.
_NAMES: dict[str, tuple[str, str]] = {
    "passw": (r"passw(?:or)?ds?", _PASSWORD),
    "passphrase": ("passphrases?", _PASSWORD),
    "pwd": ("pwd(?![a-z])", _PASSWORD),
    "pass": ("(?P<short>pass)(?![a-z])", _PASSWORD),
    "secret": ("secrets?", _KEY),
    # How many tokens there are is no secret.
    "token": (r"token(?!i[sz])(?:s(?!['\"`]?\s?[=: ]\s?\d{1,9}\b)|(?!s))", _KEY),
    "credential": ("credentials?", _KEY),
    "key": ("keys?+", _KEY),
}
_KEYS_OF = (
    r"(?:api|access|private|account|auth|encryption|signing|master|app|application|license"
    r"|service|shared|storage|webhook|deploy|client|session|jwt|hmac|admin)[ _.-]?$"
)
# `DB_PASS`, `dbPass` and `"pass"`, but neither `bypass` nor a test's `PASS`.
_SHORT_NAME = r"(?<=\w[_.-])|(?<=['\"])|(?<=[a-z])(?=P)"
_REST = r"(?![a-z])(?P<rest>[\w.-]{0,40})[\\'\"`*\]]{0,4}"
_VALUE = r"(?P<value>'[^'\n]*+'|\"[^\"\n]*+\"|`[^`\n]*+`|\\?['\"`]?[^\s'\"`,;\\<>]++)"
# Of an f-string only without fields, and of no raw one: most are patterns.
_PREFIX = r"(?:[bBuUL@](?=['\"])|[fF](?=['\"][^'\"{\n]{0,200}['\"]))?"
_QUOTED = rf"(?={_PREFIX}['\"`])"
_ASSIGNED = (
    rf"{_REST}(?:[ \t]{{0,20}}(?::=|=>|[=:](?![=:]))(?:\*\*)?[ \t]{{0,20}}"
    # A block of YAML.
    r"(?:[|>][+-]?\n[ \t]{1,40})?"
    r"|>"
    # `name: DB_PASSWORD`, and the value in a field of its own.
    r"|[\s,]{1,60}\\?['\"]?[Vv]alue\\?['\"]?[ \t]?[:=][ \t]{0,4}"
    rf"|(?:[ \t]{{1,4}}string[ \t]?=|\)?[ \t]{{1,4}}(?:\|\||\?\?|or)[ \t])[ \t]?{_QUOTED})"
    # A type may stand between: `password: str = "…"`; of a list, the first is the value.
    rf"(?:&?(?:'static )?[A-Za-z][\w\[\]|. ]{{0,40}}=[ \t]?{_QUOTED})?"
    rf"(?:[\[({{][ \t]?(?=['\"`]))?{_PREFIX}{_VALUE}"
)
_ARGUMENT = rf"{_REST}[ \t]{{1,8}}{_VALUE}"
_TOLD = rf"{_REST}(?:\s[\w'-]{{1,30}}){{0,6}}\s(?P<told>is|was):?\s{_VALUE}"
_TAKES_ARGUMENT = (
    r"(?m)(?:(?:^|[\s\"'(\[,`=])--?[\w.-]{0,40}|^\s*(?:ENV|ARG|set|setx)\s+[\w.-]{0,40}"
    r"|\bconfigure set [\w.-]{0,40})$"
)
_SECOND = rf"{_REST}(?<=['\"`]),\s{{0,20}}(?:default\s?=\s?)?{_QUOTED}{_PREFIX}{_VALUE}"
_TAKES_SECOND = (
    r"(?i)(?:env|environ\.get|env\.fetch|config|getordefault|define|\.put)"
    r"\([ \t]{0,4}['\"`][\w.-]{0,40}$"
)
_ONLY = rf"{_REST}\([ \t]?{_QUOTED}{_PREFIX}{_VALUE}"
_TAKES_ONLY = r"(?:\b|_)[sS]et_?[\w]{0,40}$"
_CELL = rf"{_REST}[ \t]{{1,20}}\|[ \t]{{1,20}}(?=[^\s|]{{1,200}}[ \t]{{1,20}}\|){_VALUE}"
_FIRST_CELL = r"^[^\w|]{0,20}\|[ \t][\w *.-]{0,40}$"
_BEHIND = (
    (_ARGUMENT, _TAKES_ARGUMENT),
    (_SECOND, _TAKES_SECOND),
    (_ONLY, _TAKES_ONLY),
    (_CELL, _FIRST_CELL),
)
"""What follows a name, and what must stand before it."""
_BEFORE = 60
_LONGEST_PREFIX = 14
_LONG_VALUE = 64
_JUDGED = 200


@frozen
class _Command:
    """A command that takes a password: where it is looked for, and its shape from there on."""

    mark: str
    shape: str


_COMMANDS = (
    _Command("curl", r"curl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,100}:"),
    _Command("mysql", r"mysql\w{0,12}\b[^\n|;]{0,300}?\s-p(?=[^\s-])"),
    _Command("mariadb", r"mariadb[\w-]{0,12}[^\n|;]{0,300}?\s-p(?=[^\s-])"),
    _Command("sshpass", r"sshpass\s{1,4}-p\s?"),
    _Command("redis-cli", r"redis-cli\b[^\n|;]{0,300}?\s-a\s"),
    _Command("docker login", r"docker login\b[^\n|;]{0,300}?\s-p\s"),
    _Command("-passin", r"-passin\s{1,4}pass:"),
    _Command("login", r"login\s{1,20}\S{1,100}\s{1,20}password\s{1,20}"),
)
_COMMANDS_VALUE = r"(?P<quote>['\"]?)(?P<value>[^\s'\"|;<>]{1,200})"
_URL = r"://[^\s/:@'\"<>]{0,100}:(?P<value>[^\s/@'\"<>]{1,200})@(?=[\w\[$%{<])"
_SCHEME = r"(?i)(?:bearer|basic|digest|token|apikey)[ \t]{1,8}(?P<value>[\w.~+/=-]{8,}+)"
_HEADER = (
    r"(?i)authorization['\"`]{0,2}\s?[:=,]\s?['\"`]?(?P<value>[\w.~+/=-]{8,}+)(?![ \t]*[\w(.])"
)
# Of a Docker or npm configuration: a user's name and a password, in base64.
_AUTH = r"(?<=['\"_])auth['\"]?[ \t]?[:=][ \t]?['\"]?(?P<value>[A-Za-z0-9+/]{8,}+={0,2})"
_SIGNATURE = r"(?<=[?&;])sig=(?P<value>[\w%+/=-]{20,}+)"
_COOKIE = (
    r"(?i)cookie['\"]?:[ \t]?['\"]?(?:[\w.-]{1,60}=[^\s;]{0,200};[ \t]?){0,9}?"
    r"[\w.-]{0,30}sess[\w.-]{0,20}=(?P<value>[\w.%+/=-]{16,}+)"
)

_NOT_MADE = (
    # A placeholder, a part of a program, a path, an address.
    r"(?i)^[<\[({$%&@*]|\$\{|\{\{|%\(|\w[\[(]|\.\.\.|…|\*\*\*|xxx|example|sample|placeholder"
    r"|^(?:your|my|the|test|dummy|fake|foo|bar|some)(?:\b|[_-])|^\w+(?:\.\w+)+$|^arn:|://|\\|^[.~]"
    r"|\(\)|qwerty|letmein|changeme"
)
_POOR = r"(?i)ssword|^pass(?:$|%)|^pass(?:word)?[\d!]+$|(?:^|my|%20)secret\d*$|^abc123|^[\d ]+$"
_WORD_FOR_ONE = (
    r"(?i)pass|pwd|secret|token|[-_.:]|^(?:boolean|bytes|correct|default|defined|expired|false"
    r"|hidden|incorrect|invalid|missing|number|object|option|optional|prompt|redacted|removed"
    r"|required|string|struct|undefined|unknown|varchar|none|null|true|admin|user|root|guest)$"
)
_QUOTES = ("'", '"', "`")
_SHORTEST_PASSWORD = 6
_SHORTEST_KEY = 16
_OF_A_LETTER_AND_DIGIT = 2


@frozen
class _Value:
    """What may be a secret."""

    start: int
    end: int
    kind: str
    rest: str = ""
    told: bool = False
    certain: bool = False

    def span(self) -> SecretSpan:
        return SecretSpan(self.start, self.end, self.kind)


def named(text: str, *, eager: bool = False) -> Iterator[SecretSpan]:
    """Find secrets by the name before a value.

    Args:
        text: the text.
        eager: True to report every value with a secret-like name; by default placeholders, code
            and plain words are skipped.
    """
    low = text.lower()
    if len(low) != len(text):
        # A letter of few languages becomes two; places must stay the same.
        low = "".join(char.lower() if char.isascii() else char for char in text)
    for value in (*_in_addresses(text, low), *_in_headers(text, low), *_in_commands(text, low)):
        if eager or _is_made(text, value):
            yield value.span()
    for value in _assigned(text, low):
        if _is_made(text, value) or (eager and not value.told):
            yield value.span()


def _assigned(text: str, low: str) -> Iterator[_Value]:
    for word, (name, kind) in _NAMES.items():
        for found in _matches(low, word, partial(_behind_name, text, low, word, name)):
            yield _value(found, kind)


def _behind_name(text: str, low: str, word: str, name: str, at: int) -> re.Match[str] | None:
    if word == "key" and not compiled(_KEYS_OF).search(low, max(0, at - _LONGEST_PREFIX), at):
        return None
    if word == "pass" and not compiled(_SHORT_NAME).match(text, at):
        return None
    if found := _shape(name, _ASSIGNED).match(text, at):
        return found
    for behind, takes in _BEHIND:
        if found := _shape(name, behind).match(text, at):
            start = max(0, at - _BEFORE)
            if compiled(takes).search(text[max(start, text.rfind("\n", start, at) + 1) : at]):
                return found
    return None if word == "pass" else _shape(name, _TOLD).match(text, at)


def _value(found: re.Match[str], kind: str) -> _Value:
    """The value without its quotes."""
    start, end = found.span("value")
    text = found.string
    while start < end and text[start] in "\\'\"`":
        start += 1
    while end > start and text[end - 1] in "'\"`":
        end -= 1
    unsure = not {"told", "short"}.isdisjoint(found.groupdict())
    return _Value(start, end, kind, found["rest"], unsure)


def _in_addresses(text: str, low: str) -> Iterator[_Value]:
    for found in _matches(low, "://", partial(_match, _URL, text)):
        yield _Value(*found.span("value"), _PASSWORD)


def _in_headers(text: str, low: str) -> Iterator[_Value]:
    for scheme in ("bearer", "basic", "digest"):
        for found in _matches(low, scheme, partial(_match, _SCHEME, text)):
            yield _Value(*found.span("value"), _KEY, scheme)
    for found in _matches(low, "auth", partial(_match, _AUTH, text)):
        yield _Value(*found.span("value"), _KEY, "basic")
    for word, shape in (("authorization", _HEADER), ("sig=", _SIGNATURE), ("cookie", _COOKIE)):
        for found in _matches(low, word, partial(_match, shape, text)):
            yield _Value(*found.span("value"), _KEY)


def _in_commands(text: str, low: str) -> Iterator[_Value]:
    for command in _COMMANDS:
        for found in _matches(low, command.mark, partial(_match_command, command.shape, text)):
            yield _Value(*found.span("value"), _PASSWORD, certain=True)


def _matches(
    low: str, word: str, match: Callable[[int], re.Match[str] | None]
) -> Iterator[re.Match[str]]:
    """What matches where a word stands; nothing twice within a long value."""
    at = low.find(word)
    while at >= 0:
        follows = at + len(word)
        if found := match(at):
            yield found
            start, end = found.span("value")
            follows = end if end - start > _LONG_VALUE else follows
        at = low.find(word, follows)


def _is_made(text: str, value: _Value) -> bool:
    """Whether a value looks made up or generated."""
    given = text[value.start : value.end].rstrip(".,:!?)}]")
    if value.rest == "basic":
        return _is_basic(given)
    given = given[:_JUDGED]
    is_path = given.startswith("/") and not looks_random(given)
    if is_path or compiled(_NOT_MADE).search(given) or is_example(f"    {given}{given}"):
        return False
    digits = sum(map(str.isdecimal, given))
    if value.kind == _KEY:
        letters = sum(map(str.isalpha, given))
        return len(given) >= _SHORTEST_KEY and min(digits, letters) >= _OF_A_LETTER_AND_DIGIT
    # `password_length: 12` is none.
    if len(given) < _SHORTEST_PASSWORD or value.rest.strip("_.-") or compiled(_POOR).search(given):
        return False
    if value.certain:
        return compiled(_WORD_FOR_ONE).search(given) is None or digits > 0
    return digits > 0 or (not value.told and _stands_alone(text, value, given))


def _is_basic(given: str) -> bool:
    """Whether it is a user's name and a password, made up."""
    try:
        user, colon, password = base64.b64decode(given, validate=True).decode().partition(":")
    except ValueError:
        return False
    made = _Value(0, len(password), _PASSWORD)
    return bool(user and colon) and _is_made(password, made)


def _stands_alone(text: str, value: _Value, given: str) -> bool:
    """Whether a word is the whole value, and no word about one or the beginning of a sentence."""
    before, after = text[max(0, value.start - 6) : value.start], text[value.end : value.end + 1]
    # In a program a word in quotes is a test's; in JSON the name is in quotes, too.
    alone = after in {"", "\n"} and before[-1:] not in _QUOTES
    in_json = before.endswith('"') and '":' in before
    return (alone or in_json) and not compiled(_WORD_FOR_ONE).search(given)


@cache
def _shape(name: str, tail: str) -> re.Pattern[str]:
    return re.compile(f"(?i:{name}){tail}")


def _match(pattern: str, text: str, at: int) -> re.Match[str] | None:
    return compiled(pattern).match(text, at)


def _match_command(shape: str, text: str, at: int) -> re.Match[str] | None:
    return _shape(shape, _COMMANDS_VALUE).match(text, at)
