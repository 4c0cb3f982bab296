"""Generate the reference of the modules that plugins may import.

The reference is Markdown.

`python -m contextkit.testing.api_reference FILE` writes it between the file's marks.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import get_args

from contextkit.testing.reference import cell, filled, table, write_page

PUBLIC = (
    "contextkit",
    "contextkit.models",
    "contextkit.errors",
    "contextkit.sources",
    "contextkit.text",
    "contextkit.indexing",
    "contextkit.cli",
    "contextkit.agent",
    "contextkit.logs",
    "contextkit.concurrency",
    "contextkit.testing",
)
"""The modules that are stable for plugins, those of this repository included."""


def api_reference() -> str:
    """Describe each public module and its names."""
    return "\n\n".join(map(_module, PUBLIC))


def _module(name: str) -> str:
    module = importlib.import_module(name)
    return f"## {name}\n\n{_first_line(module)}\n\n{table(('name', 'what it is'), _rows(module))}"


def _rows(module: object) -> Iterator[tuple[str, str]]:
    for name in sorted(vars(module)["__all__"], key=lambda name: (name.lower(), name)):
        yield f"`{name}`", cell(_first_line(getattr(module, name)))


def _first_line(thing: object) -> str:
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing):
        return (inspect.getdoc(thing) or "").partition("\n")[0]
    # A constant has its type's docstring, which does not describe the constant.
    if values := get_args(thing):
        return ", ".join(f"`{value}`" for value in values if isinstance(value, str)) or "a type"
    if isinstance(thing, frozenset):
        return "a set of words"
    return f"`{thing!r}`" if isinstance(thing, str | tuple) else "a constant"


def main() -> None:
    """Write the page that the command line names."""
    write_page(lambda page: filled(page, api_reference()))


if __name__ == "__main__":
    main()
