"""The base for sources of written records, and helpers.

People and agents write those records. The helpers serve every source.

| module | provides |
|---|---|
| `entry` | `Entry` and `part`: one record as an attrs class, from which the rest derives |
| `checks` | checks for parts: a line, a text, a name, a number, a list, one of a few |
| `ids` | abbreviated ids |
| `book` | `Book`: add, change, get, list, search, count, remove, for the project or the user |
| `document` | entries as Markdown with front matter |
| `validity` | the time in which a record was true, and what replaced it |
| `lasting` | `LastingEntry`, `LastingBook`: entries that are ended and replaced |
| `tools` | tools for agents, from the class: `add_tool`, `list_tool`, `remove_tool` |
| `show` | the forms of an item in each style |
| `neighbours` | support among items of a sequence, such as the turns of a conversation |
| `remote` | for sources that search elsewhere: JSON over HTTP, and an order of results |

`contextkit.cli.entries` makes commands of a book. `contextkit new-source --records NAME` creates
such a source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.package import lazy_names as lazy_names

if TYPE_CHECKING:
    from contextkit.models.candidate import supported as supported
    from contextkit.sources.book import (
        Book as Book,
        changed as changed,
        checked_limit as checked_limit,
    )
    from contextkit.sources.checks import (
        choice as choice,
        line as line,
        name as name,
        number as number,
        several as several,
        text as text,
        whole as whole,
    )
    from contextkit.sources.document import (
        read_document as read_document,
        text_parts as text_parts,
        write_document as write_document,
    )
    from contextkit.sources.entry import (
        Entry as Entry,
        InvalidEntryError as InvalidEntryError,
        UnknownEntryError as UnknownEntryError,
        as_json as as_json,
        checked_time as checked_time,
        json_types_of as json_types_of,
        part as part,
        shortened_line as shortened_line,
        time_of as time_of,
    )
    from contextkit.sources.ids import (
        AmbiguousEntryError as AmbiguousEntryError,
        by_beginning as by_beginning,
    )
    from contextkit.sources.lasting import (
        LastingBook as LastingBook,
        LastingEntry as LastingEntry,
    )
    from contextkit.sources.neighbours import (
        beside as beside,
        best_supported as best_supported,
        sequence_supports as sequence_supports,
        supports as supports,
    )
    from contextkit.sources.remote import fetch_json as fetch_json, in_order as in_order
    from contextkit.sources.show import (
        behind_label as behind_label,
        clipped as clipped,
        compact as compact,
        in_style as in_style,
        plain_entity as plain_entity,
        xml_entity as xml_entity,
    )
    from contextkit.sources.tools import (
        OUTCOME as OUTCOME,
        add_tool as add_tool,
        gives as gives,
        list_tool as list_tool,
        remove_tool as remove_tool,
        takes_parts as takes_parts,
    )
    from contextkit.sources.validity import (
        VALID_UNTIL as VALID_UNTIL,
        Validity as Validity,
        search_valid as search_valid,
        with_chains as with_chains,
        with_validity as with_validity,
    )
    from contextkit.sources.versions import older_versions as older_versions
    from contextkit.store.searcher_filters import matches as matches

_NAMES = {
    "book": "Book changed checked_limit",
    "checks": "choice line name number several text whole",
    "document": "read_document text_parts write_document",
    "entry": (
        "Entry InvalidEntryError UnknownEntryError part as_json checked_time json_types_of "
        "shortened_line time_of"
    ),
    "ids": "AmbiguousEntryError by_beginning",
    "lasting": "LastingBook LastingEntry",
    "neighbours": "beside best_supported sequence_supports supports",
    "remote": "fetch_json in_order",
    "tools": "OUTCOME add_tool gives list_tool remove_tool takes_parts",
    "show": "behind_label clipped compact in_style plain_entity xml_entity",
    "validity": "VALID_UNTIL Validity search_valid with_chains with_validity",
    "versions": "older_versions",
    "..models.candidate": "supported",
    "..store.searcher_filters": "matches",
}

__all__ = [name for names in ("lazy_names", *_NAMES.values()) for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)
