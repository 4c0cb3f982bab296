"""Description of one language; `table` holds them all.

A language is one entry: the suffixes of its files, the grammar that parses them and one
tree-sitter query that finds its definitions. In that query

- `@name` is the definition's name, or several are its parts, `@scope` what it belongs to where
  that is not what it stands in (the receiver of a Go method);
- `@body` is where its signature ends, also where it stands behind the definition's node; without
  it the node's field `body` or the first child whose type is in `bodies`;
- `@onward` marks a definition that is for all that follows it, up to the next of its unit type
  beside it (`package` in Perl);
- `@docstring` is a docstring within it;
- `@comment` belongs to the definition below it and is its docstring, `@above` belongs to it
  too (an attribute) without being one, `@signature` likewise and is its signature;
- `@import` is no definition: what of a file imports another is in `imports`;
- a capture that begins with `_` is for the query's own conditions, of which there is one:
  `(#in? @_kind "def" "defp")`, that its text is one of these;
- every other capture is the definition itself, and the capture's name is its unit type.

Of two patterns that match one node, the earlier one counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

METHOD_OWNERS = frozenset(
    {
        "actor",
        "class",
        "contract",
        "enum",
        "extension",
        "impl",
        "instance",
        "interface",
        "library",
        "mixin",
        "object",
        "protocol",
        "record",
        "struct",
        "trait",
        "union",
    }
)
"""Unit types whose functions are methods."""

TRANSPARENT = frozenset({"namespace"})
"""Unit types that name their definitions without being units themselves."""


# Where `*` is also a prefix, a row of operators can be read in every combination. The parser's time
# and memory grow with the cube of the number of operators.
OPERATORS_IN_A_ROW = rb"[-+/%|&^@<>=~!*]{400}"
"""What is `hopeless` in such languages."""


@frozen(kw_only=True)
class Language:
    """One language.

    Attributes:
        name: its name in records.
        suffixes: its file name suffixes, in lower case.
        grammar: the module that holds its grammar.
        query: the query that finds its definitions, see above.
        factory: the function of `grammar` that gives the grammar.
        bodies: node types that end a signature where there is no field `body`.
        wrappers: node types that belong to the one definition in them (`export`, decorators).
        clauses: True where one function is written as several definitions in a row.
        nameless: the name of a definition that has none.
        prefixes: unit type -> what its names begin with, where code refers to them so.
        comment_docs: whether a leading comment is a docstring.
        docs_below: whether a comment may also stand below what it is for.
        joint: what joins the parts of one name.
        skipped: a pattern of text that its parser does not know; it is read as blanks.
        chains: node types whose children are hidden within each other; a query's time grows with
            the square of their number.
        hopeless: a pattern of text that its parser cannot cope with, matched without white space; a
            file that matches is not parsed.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    query: str
    factory: str = "language"
    bodies: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    clauses: bool = False
    nameless: str = "default"
    prefixes: Mapping[str, str] = field(factory=dict, hash=False)
    comment_docs: bool = True
    docs_below: bool = False
    joint: str = "."
    skipped: bytes | None = None
    chains: frozenset[str] = frozenset()
    hopeless: bytes | None = None
