"""Write a question as the texts that answer it spell its words.

Code has `timeout` where a question has "time out", and a search for "time" finds clocks: "out" is
in every text. Code has `sync` for "synchronise", and American spelling. What answers "how long is a
session valid?" has no "long".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from contextkit.text.words import STOP_WORDS

_APART = {
    "backend": r"back ends?",
    "backoff": r"back(?:s|ed|ing)? off",
    "backup": r"back(?:s|ed|ing)? up",
    "callback": r"call(?:s|ed|ing)? back",
    "checkbox": r"check box(?:es)?",
    "checkout": r"check(?:s|ed|ing)? out",
    "cleanup": r"clean(?:s|ed|ing)? up",
    "codebase": r"code bases?",
    "database": r"data bases?",
    "dataset": r"data sets?",
    "dropdown": r"drop downs?",
    "email": r"e mails?",
    "endpoint": r"end points?",
    "fallback": r"f(?:all(?:s|ing)?|ell|allen) back",
    "filename": r"file names?",
    "frontend": r"front ends?",
    "hostname": r"host names?",
    "keyword": r"key words?",
    "login": r"log(?:s|ged|ging)? in(?= (?:again|as|by|to|using|via|with)\b|\W*\Z)",
    "logout": r"log(?:s|ged|ging)? out",
    "lookup": r"look(?:s|ed|ing)? up",
    "metadata": r"meta data",
    "middleware": r"middle wares?",
    "multiline": r"multi lines?",
    "namespace": r"name spaces?",
    "plugin": r"plug ins?",
    "popup": r"pop(?:s|ped|ping)? up",
    "readonly": r"read only",
    "rollback": r"roll(?:s|ed|ing)? back",
    "setup": r"set(?:s|ting)? up",
    "shutdown": r"shut(?:s|ting)? down",
    "sidebar": r"side bars?",
    "startup": r"start(?:s|ed|ing)? up",
    "subcommand": r"sub commands?",
    "subdomain": r"sub domains?",
    "teardown": r"t(?:ear(?:s|ing)?|orn) down",
    "timeout": r"tim(?:e[sd]?|ing) out",
    "timestamp": r"time stamps?",
    "timezone": r"time zones?",
    "username": r"user names?",
    "webhook": r"web hooks?",
    "websocket": r"web sockets?",
    "whitespace": r"white spaces?",
    "workaround": r"work(?:s|ed|ing)? around",
    "workflow": r"work flows?",
}
_IN_FULL = {
    "admin": r"administrators?",
    "async": r"asynchronous(?:ly)?",
    "auth": r"authenticat(?:e[ds]?|ing|ion)",
    "config": r"configur(?:e[ds]?|ing|ations?)",
    "env": r"environment",
    "init": r"initiali[sz](?:e[ds]?|ing|ation)",
    "max": r"maxim(?:um|al)",
    "min": r"minim(?:um|al)",
    "repo": r"repositor(?:y|ies)",
    "spec": r"specifications?",
    "stats": r"statistics",
    "sync": r"synchroni[sz](?:e[ds]?|ing|ation)",
    "thumb": r"thumbnails?",
}
"""What code shortens. With `arg`, `db`, `err`, `id` and so on, which half of all code has, `sweqa`
within 2,000 tokens falls from .747 to .733."""


def _any_of(table: Mapping[str, str]) -> re.Pattern[str]:
    either = "|".join(f"(?P<{word}>{other})" for word, other in table.items())
    return re.compile(rf"\b(?:{either})\b".replace(" ", "[ -]"), re.IGNORECASE)


_COMPOUND, _SHORT = _any_of(_APART), _any_of(_IN_FULL)
_BRITISH = re.compile(
    r"\b((?:de|re|un)?(?:authori|capitali|categori|centrali|customi|finali|generali|initiali"
    r"|internationali|locali|maximi|minimi|normali|optimi|organi|paralleli|parametri|prioriti"
    r"|randomi|recogni|reali|saniti|seriali|speciali|standardi|summari|synchroni|tokeni|utili|vectori"
    r"|virtuali|visuali)|analy)s(e[ds]?|ers?|able|ations?|ing)\b"
    r"|\b((?:mis)?behavi|col|fav|flav|hon|neighb)our(\w*)",
    re.IGNORECASE,
)
_NEIGHBOURS = re.compile(r"\b[A-Za-z]\w*+(?:[ -][A-Za-z]\w*+)+")
_JOINED = (2, 3)
_JOINED_CHARACTERS = 1000
_QUANTITY = re.compile(r"\b(how) (?:far|long|many|much|often|old)\b", re.IGNORECASE)


def without_quantity(question: str) -> str:
    """Return a question without the "long" of "how long"."""
    return _QUANTITY.sub(r"\1", question)


def with_compounds(text: str) -> str:
    """Add the compound behind each phrase that is one elsewhere."""
    return _COMPOUND.sub(lambda found: f"{found[0]} {found.lastgroup}", text)


def with_spellings(text: str) -> str:
    """Add compounds, and the spelling of code behind each word that code spells otherwise."""
    text = _SHORT.sub(lambda found: f"{found[0]} {found.lastgroup}", with_compounds(text))
    return _BRITISH.sub(lambda found: f"{found[0]} {_american(found)}", text)


def joined_words(text: str) -> str:
    """Return the names that code may have for a question's neighbouring words.

    Of "where is the rate limit set?" this is `rate_limit`, which finds `rateLimit` as well.
    """
    names = []
    for found in _NEIGHBOURS.findall(text[:_JOINED_CHARACTERS]):
        words = re.split("[ -]", found.lower())
        for many in _JOINED:
            runs = (words[start : start + many] for start in range(len(words) - many + 1))
            names += ["_".join(run) for run in runs if STOP_WORDS.isdisjoint(run)]
    return " ".join(names)


def other_spellings(text: str) -> dict[str, list[str]]:
    """Return each word that code spells otherwise, in lower case, and how.

    Of `Synchronised` these are `synchronized` and `sync`.
    """
    found: dict[str, list[str]] = {}
    for british in _BRITISH.finditer(text):
        found.setdefault(british[0].lower(), []).append(_american(british).lower())
    for long in _SHORT.finditer(text):
        found.setdefault(long[0].lower(), []).append(str(long.lastgroup))
    return found


def _american(british: re.Match[str]) -> str:
    before, after, colo, rest = british.groups()
    return f"{before}z{after}" if before else f"{colo}or{rest}"
