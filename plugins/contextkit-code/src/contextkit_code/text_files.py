"""Determine a file's type by name, and decode its text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from attrs import frozen

from contextkit.indexing import SkipFileError
from contextkit_code.languages.language import Language
from contextkit_code.languages.table import LANGUAGES

_HEAD = 8192
_MIN_MINIFIED = 5_000
_MINIFIED_LINE = 400
_GENERATED_HEAD = 600
_COMMENT = re.compile(r"[ \t]*(?://|#|/?\*|--|;|%|<!--)")
_GENERATED = re.compile(
    r"@generated\b|\bBison (?:parser|interface|implementation)\b"
    r"|\bgenerated (?:automatically )?by (?:flex|GNU Autoconf|autoheader|aclocal|automake|Cython"
    r"|rust-bindgen|SWIG|ANTLR|Thrift)\b",
    re.IGNORECASE,
)
_NOT_TO_EDIT = re.compile(r"\bdo(?: not|n't) (?:edit|modify|change)\b", re.IGNORECASE)
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROLS = bytes({*range(32)} - {7, 8, 9, 10, 11, 12, 13, 27})
_CPLUSPLUS = re.compile(
    r"^[ \t]*(?:class|namespace|template|using|public|private|protected)\b|std::", re.MULTILINE
)
_OBJECTIVE_C = rb"^[ \t]*(?:@(?:class|implementation|import|interface|protocol)|#[ \t]*import)\b"
_MARKS = {
    suffix: re.compile(mark, re.MULTILINE)
    for suffix, mark in (
        (".m", _OBJECTIVE_C + rb"|^#include\b"),
        (".mm", _OBJECTIVE_C + rb"|^#include\b"),
        (".t", rb"^#!.*\bperl\b|^(?:use|package)[ \t]++[\w:.]++[^\n;]*+;"),
    )
}
"""What a file must have where other languages have the suffix, too."""

_SHEBANG = re.compile(r"#![ \t]*+(?:\S*/)?(?:env[ \t]++(?:-\S++[ \t]++)*)?([\w.+-]++)(?:\s|$)")

_INTERPRETERS = {
    "bash": "bash",
    "bun": "typescript",
    "dash": "bash",
    "deno": "typescript",
    "elixir": "elixir",
    "julia": "julia",
    "ksh": "bash",
    "lua": "lua",
    "node": "javascript",
    "ocaml": "ocaml",
    "perl": "perl",
    "php": "php",
    "pwsh": "powershell",
    "python": "python",
    "ruby": "ruby",
    "sh": "bash",
    "zsh": "bash",
}
_NAMES = {
    "cpanfile": "perl",
    "gemfile": "ruby",
    "guardfile": "ruby",
    "podfile": "ruby",
    "rakefile": "ruby",
    "sconscript": "python",
    "sconstruct": "python",
    "vagrantfile": "ruby",
}
_PROSE = {
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".markdown": "markdown",
    ".md": "markdown",
    ".mdx": "mdx",
    ".org": "org",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".rst": "rst",
    ".rdoc": "asciidoc",
    ".textile": "text",
    ".txt": "text",
}
_TABLES = frozenset({".csv", ".jsonl", ".ndjson", ".tsv"})
_OTHER = {
    ".astro": "astro",
    ".cl": "lisp",
    ".clj": "clojure",
    ".cljc": "clojure",
    ".cljs": "clojure",
    ".cmake": "cmake",
    ".cr": "crystal",
    ".css": "css",
    ".csv": "csv",
    ".edn": "clojure",
    ".el": "elisp",
    ".elm": "elm",
    ".erl": "erlang",
    ".fs": "fsharp",
    ".fsi": "fsharp",
    ".fsx": "fsharp",
    ".gql": "graphql",
    ".gradle": "groovy",
    ".graphql": "graphql",
    ".graphqls": "graphql",
    ".groovy": "groovy",
    ".hrl": "erlang",
    ".html": "html",
    ".ini": "ini",
    ".json": "json",
    ".jsonl": "json",
    ".less": "less",
    ".lisp": "lisp",
    ".m": "matlab",
    ".ndjson": "json",
    ".nim": "nim",
    ".nix": "nix",
    ".prisma": "prisma",
    ".proto": "protobuf",
    ".psd1": "powershell",
    ".purs": "purescript",
    ".r": "r",
    ".rkt": "racket",
    ".scm": "scheme",
    ".scss": "scss",
    ".sql": "sql",
    ".sv": "verilog",
    ".svelte": "svelte",
    ".tcl": "tcl",
    ".thrift": "thrift",
    ".toml": "toml",
    ".tsv": "csv",
    ".v": "verilog",
    ".vhd": "vhdl",
    ".vhdl": "vhdl",
    ".vue": "vue",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    "cmakelists.txt": "cmake",
    "dockerfile": "dockerfile",
    "jenkinsfile": "groovy",
    "makefile": "makefile",
}


class NotTextError(SkipFileError):
    """A file is not hand-written text; the message says why."""


@frozen
class SourceText:
    """A file's text.

    Attributes:
        lines: its lines, without their ends.
        source: the same text as UTF-8, lines joined by line feeds, for a parser.
    """

    lines: list[str]
    source: bytes


def decode(content: bytes, *, is_code: bool) -> SourceText:
    """Decode a file's text.

    It is UTF-8, UTF-16 with its byte order mark, or a Western single-byte encoding.

    Raises `NotTextError` for what is binary, and for code that is minified or says that it
    was generated.
    """
    text = _text(content)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if is_code and _says_generated(text[:_GENERATED_HEAD].split("\n")):
        raise NotTextError("it says that it is generated")
    lines = text.split("\n")
    if is_code and len(text) > _MIN_MINIFIED and len(text) / len(lines) > _MINIFIED_LINE:
        raise NotTextError("it is minified")
    return SourceText(lines, text.encode())


def _says_generated(lines: Sequence[str]) -> bool:
    """Return whether a comment says that a tool made the file, and perhaps not to edit it."""
    return any(
        _GENERATED.search(line)
        or ("generated" in line.lower() and _NOT_TO_EDIT.search(f"{line} {following}"))
        for line, following in pairwise([*lines, ""])
        if _COMMENT.match(line)
    )


def _text(content: bytes) -> str:
    for mark, encoding in _BOMS.items():
        if content.startswith(mark):
            try:
                return content.decode(encoding).removeprefix("\ufeff")
            except UnicodeDecodeError:
                raise NotTextError("it is binary") from None
    if b"\0" in content[:_HEAD]:
        raise NotTextError("it is binary")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        # No encoding is declared. Control characters distinguish data from the text of old files.
        if len(content.translate(None, _CONTROLS)) < len(content):
            raise NotTextError("it is binary") from None
        return content.decode("cp1252", "replace")
    if "\0" in text:
        raise NotTextError("it is binary")
    return text


@cache
def _by_suffix() -> dict[str, Language]:
    return {suffix: language for language in LANGUAGES for suffix in language.suffixes}


@cache
def _by_name() -> dict[str, Language]:
    return {language.name: language for language in LANGUAGES}


def language_named(name: str) -> Language | None:
    """Return the language of this name, if it is parsed."""
    return _by_name().get(name)


def parsed_language(path: str, content: bytes) -> Language | None:
    """Return the language to parse a file as.

    The name decides, else the `#!` line.
    """
    name = path.rpartition("/")[2].lower()
    suffix = _suffix(name)
    if suffix == ".h" and re.search(_OBJECTIVE_C, content, re.MULTILINE):
        return _by_name()["objectivec"]
    if suffix == ".h" and _CPLUSPLUS.search(content.decode("utf-8", "replace")):
        return _by_name()["cpp"]
    language = _by_suffix().get(suffix)
    if suffix in _MARKS and not _MARKS[suffix].search(content):
        language = None
    if language is None and name in _NAMES:
        language = _by_name()[_NAMES[name]]
    if language is None and not suffix and content.startswith(b"#!"):
        shebang = _SHEBANG.match(content[:200].decode("utf-8", "replace"))
        interpreter = shebang[1].rstrip("0123456789.") if shebang else ""
        language = _by_name().get(_INTERPRETERS.get(interpreter, ""))
    return language


def text_language(path: str) -> tuple[str, bool]:
    """Return an unparsed file's language, and whether it is prose."""
    name = path.rpartition("/")[2].lower()
    suffix = _suffix(name)
    if name in _OTHER:
        return _OTHER[name], False
    if suffix in _PROSE:
        return _PROSE[suffix], True
    if not suffix and name in {"readme", "changelog", "contributing", "license"}:
        return "text", True
    return _OTHER.get(suffix, "text"), False


def is_table(path: str) -> bool:
    """Return whether a file holds rows of data, of which a few say what they are."""
    return _suffix(path.lower()) in _TABLES


def _suffix(name: str) -> str:
    stem, dot, end = name.rpartition(".")
    return dot + end if stem else ""
