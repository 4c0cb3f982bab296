"""The parsed languages, 27 by their grammars.

To add one, describe it in the module of its family, and name it here.
"""

from __future__ import annotations

from contextkit_code.languages.applications import CSHARP, DART, SWIFT
from contextkit_code.languages.c_family import CPP, OBJECTIVEC, C
from contextkit_code.languages.domains import HCL, SOLIDITY
from contextkit_code.languages.functional import ELIXIR, HASKELL, OCAML, OCAML_INTERFACE
from contextkit_code.languages.javascript import JAVASCRIPT, TSX, TYPESCRIPT
from contextkit_code.languages.jvm import JAVA, KOTLIN, SCALA
from contextkit_code.languages.scripting import JULIA, LUA, PERL, PHP, PYTHON, RUBY
from contextkit_code.languages.shells import BASH, POWERSHELL
from contextkit_code.languages.systems import GO, RUST, ZIG

LANGUAGES = (
    *(BASH, C, CPP, CSHARP, DART, ELIXIR, GO, HASKELL, HCL, JAVA, JAVASCRIPT, JULIA),
    *(KOTLIN, LUA, OBJECTIVEC, OCAML, OCAML_INTERFACE, PERL, PHP, POWERSHELL, PYTHON, RUBY, RUST),
    *(SCALA, SOLIDITY, SWIFT, TYPESCRIPT, TSX, ZIG),
)
"""All parsed languages, in the order of the documentation."""
