"""Write together what a question writes apart: `timeout` for "time out".

Code has the compound, and a search for "time" finds clocks: "out" is in every text.
"""

from __future__ import annotations

import re

_APART = {
    "backoff": r"back(?:s|ed|ing)? off",
    "backup": r"back(?:s|ed|ing)? up",
    "callback": r"call(?:s|ed|ing)? back",
    "checkout": r"check(?:s|ed|ing)? out",
    "cleanup": r"clean(?:s|ed|ing)? up",
    "endpoint": r"end points?",
    "fallback": r"f(?:all(?:s|ing)?|ell|allen) back",
    "filename": r"file names?",
    "hostname": r"host names?",
    "login": r"log(?:s|ged|ging)? in(?= (?:again|as|by|to|using|via|with)\b|\W*\Z)",
    "logout": r"log(?:s|ged|ging)? out",
    "lookup": r"look(?:s|ed|ing)? up",
    "metadata": r"meta data",
    "middleware": r"middle wares?",
    "namespace": r"name spaces?",
    "rollback": r"roll(?:s|ed|ing)? back",
    "setup": r"set(?:s|ting)? up",
    "shutdown": r"shut(?:s|ting)? down",
    "startup": r"start(?:s|ed|ing)? up",
    "subcommand": r"sub commands?",
    "teardown": r"t(?:ear(?:s|ing)?|orn) down",
    "timeout": r"tim(?:e[sd]?|ing) out",
    "timestamp": r"time stamps?",
    "username": r"user names?",
    "websocket": r"web sockets?",
    "whitespace": r"white spaces?",
    "workaround": r"work(?:s|ed|ing)? around",
}
_PATTERN = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{word}>{apart})' for word, apart in _APART.items())})\b",
    re.IGNORECASE,
)


def with_compounds(text: str) -> str:
    """Add the compound behind each phrase that is one elsewhere."""
    return _PATTERN.sub(lambda found: f"{found[0]} {found.lastgroup}", text)
