"""The groups of seed 4: what kind of thing an item is, whatever source it comes from."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["GROUPS", "group_of"]

GROUPS: Mapping[str, str] = {
    "code": "Relevant Code",
    "documentation": "Related Documentation",
    "conversation": "Previous Conversations",
    "other": "Other Context",
}
"""Group -> its heading, in the order in which they are shown."""

_KINDS = {
    "code": (
        "function method class interface type file module struct enum trait impl macro object "
        "protocol constructor namespace lines code"
    ),
    "documentation": "document section requirement feature documentation",
    "conversation": "session message decision turn conversation",
}
_GROUP_OF = {kind: group for group, kinds in _KINDS.items() for kind in kinds.split()}


def group_of(kind: str) -> str:
    """The group of an item of this kind; what is not known is `other`."""
    return _GROUP_OF.get(kind.lower(), "other")
