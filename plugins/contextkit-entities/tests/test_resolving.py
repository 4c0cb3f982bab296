"""Where imports lead, language by language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from contextkit_entities.code_facts import CodeFile, Definition
from contextkit_entities.resolving import Resolver, Target, resolve, resolve_again

Imports = Sequence[tuple[str, tuple[str, ...]]]


def file(language: str, *names: str, imports: Imports = ()) -> CodeFile:
    """A file that defines these names."""
    definitions = tuple(Definition(name, "class", 1, "") for name in names)
    return CodeFile("stamp", language, definitions, tuple(imports))


def leads_to(files: Mapping[str, CodeFile], path: str, *imports: str) -> list[str]:
    """What imports in a new file lead to: `path`, `path:name`, or `:module`.

    An import is written `module` or `module name,name`.
    """
    split = [each.partition(" ") for each in imports]
    asked = [(module, tuple(names.split(",")) if names else ()) for module, _, names in split]
    language = next(iter(files.values())).language
    resolver = Resolver({**files, path: file(language, imports=asked)})
    found = resolver.resolved(path).targets
    return [f"{each.path}:{each.name}" if each.name else each.path for each in found]


PYTHON = {
    "app/__init__.py": file("python", imports=[(".core", ("Kit",)), ("app.late", ("Late",))]),
    "app/core.py": file("python", "Kit", "run"),
    "app/late.py": file("python", "Late"),
    "app/json.py": file("python", "dumps"),
    "app/sub/__init__.py": file("python", "Sub"),
    "app/sub/deep.py": file("python", "Deep"),
    "plugins/one/src/one/core.py": file("python", "One"),
    "plugins/two/src/two/core.py": file("python", "Two"),
    "plugins/one/src/one/__init__.py": file("python"),
    "plugins/two/src/two/__init__.py": file("python"),
    "plugins/one/tests/helpers.py": file("python", "Left"),
    "plugins/two/tests/helpers.py": file("python", "Right"),
}


@pytest.mark.parametrize(
    ("path", "imported", "expected"),
    [
        ("x.py", "app.core Kit", ["app/core.py:Kit", "app/core.py"]),
        ("x.py", "app.core gone", ["app/core.py"]),
        ("x.py", "app Kit", ["app/core.py:Kit", "app/__init__.py"]),
        ("x.py", "app Late", ["app/late.py:Late", "app/__init__.py"]),
        ("x.py", "app core,sub", ["app/core.py", "app/sub/__init__.py", "app/__init__.py"]),
        ("x.py", "app.sub.deep", ["app/sub/deep.py"]),
        ("x.py", "app.core.run", ["app/core.py:run", "app/core.py"]),
        ("app/x.py", ".core run", ["app/core.py:run", "app/core.py"]),
        ("app/x.py", ". core", ["app/core.py", "app/__init__.py"]),
        ("app/sub/x.py", "..core Kit", ["app/core.py:Kit", "app/core.py"]),
        ("app/sub/x.py", "...app.core", ["app/core.py"]),
        ("app/sub/x.py", "....core", []),
        ("app/x.py", ".gone", []),
        (
            "x.py",
            "one.core One",
            ["plugins/one/src/one/core.py:One", "plugins/one/src/one/core.py"],
        ),
        ("x.py", "json dumps", []),
        ("x.py", "collections.abc Mapping", []),
        ("x.py", "attrs.validators in_", [":attrs"]),
        (
            "plugins/two/tests/x.py",
            "helpers Right",
            ["plugins/two/tests/helpers.py:Right", "plugins/two/tests/helpers.py"],
        ),
        ("app/core.py", "app.core", []),
    ],
)
def test_python(path: str, imported: str, expected: list[str]) -> None:
    """Absolute and relative, through packages that hand names on, past the standard library."""
    assert leads_to(PYTHON, path, imported) == expected


def test_packages_that_hand_each_other_on_are_no_trap() -> None:
    """A circle ends."""
    files = {
        "a.py": file("python", imports=[("b", ("x",))]),
        "b.py": file("python", imports=[("a", ("x",))]),
    }
    assert leads_to(files, "c.py", "a x") == ["a.py"]


def test_a_package_that_takes_from_a_module_that_is_not_there_is_no_trap() -> None:
    """`from a.c import c` in a package without `c`: the name is looked for in itself once."""
    files = {"a/__init__.py": file("python", imports=[("a.c", ("c",))])}
    assert leads_to(files, "x.py", "a c", "a.c c") == ["a/__init__.py"]
    assert resolve(files)["a/__init__.py"].targets == ()


SCRIPTS = {
    "src/util/index.ts": file("typescript", imports=[("./text", ("trim",))]),
    "src/util/text.ts": file("typescript", "trim"),
    "src/app.tsx": file("typescript", "App"),
}


@pytest.mark.parametrize(
    ("imported", "expected"),
    [
        ("./util trim", ["src/util/text.ts:trim", "src/util/index.ts"]),
        ("./util/text.js trim", ["src/util/text.ts:trim", "src/util/text.ts"]),
        ("./app", ["src/app.tsx"]),
        ("../src/app.tsx", ["src/app.tsx"]),
        ("./gone", []),
        ("node:fs", []),
        ("react-dom/client", [":react-dom"]),
        ("@scope/pkg/deep", [":@scope/pkg"]),
    ],
)
def test_javascript(imported: str, expected: list[str]) -> None:
    """By path with and without a suffix; packages by their name."""
    assert leads_to(SCRIPTS, "src/x.ts", imported) == expected


@pytest.mark.parametrize(
    ("language", "files", "imported", "expected"),
    [
        ("java", {"src/com/acme/Box.java": ("Box",)}, "com.acme.Box", "src/com/acme/Box.java:Box"),
        ("java", {"src/com/acme/Box.java": ()}, "com.acme.Box.of", "src/com/acme/Box.java"),
        ("java", {}, "java.util.List", ""),
        ("java", {}, "org.junit.Test", ":org"),
        ("kotlin", {"a/b/Box.kt": ("Box",)}, "a.b.Box", "a/b/Box.kt:Box"),
        (
            "rust",
            {"src/store/base.rs": ("Base",)},
            "crate::store::base::Base",
            "src/store/base.rs:Base",
        ),
        ("rust", {}, "std::io", ""),
        ("rust", {}, "serde::Serialize", ":serde"),
        ("csharp", {}, "System.Text", ""),
        ("csharp", {}, "Newtonsoft.Json", ":Newtonsoft"),
        ("php", {"src/Acme/Box.php": ("Box",)}, "Acme\\Box", "src/Acme/Box.php:Box"),
        ("haskell", {"src/Acme/Box.hs": ()}, "Acme.Box", "src/Acme/Box.hs"),
        ("perl", {"lib/Acme/Box.pm": ("Box",)}, "Acme::Box", "lib/Acme/Box.pm:Box"),
        ("perl", {}, "strict", ""),
        ("perl", {}, "Moose", ":Moose"),
        ("julia", {"src/box.jl": ()}, "box.jl", "src/box.jl"),
        ("julia", {}, "Base", ""),
        ("julia", {}, "CSV", ":CSV"),
        ("dart", {"lib/box.dart": ()}, "../lib/box.dart", "lib/box.dart"),
        ("dart", {}, "dart:async", ""),
        ("objectivec", {"src/Box.h": ()}, "Box.h", "src/Box.h"),
        ("solidity", {"src/Box.sol": ()}, "../src/Box.sol", "src/Box.sol"),
        ("swift", {}, "Foundation", ""),
        ("swift", {}, "Alamofire", ":Alamofire"),
        ("c", {"lib/box.h": ()}, "lib/box.h", "lib/box.h"),
        ("c", {"include/acme/box.h": ()}, "acme/box.h", "include/acme/box.h"),
        ("c", {}, "stdio.h", ""),
        ("cpp", {"lib/box.hpp": ()}, "../lib/box.hpp", "lib/box.hpp"),
        ("ruby", {"lib/acme/box.rb": ()}, "acme/box", "lib/acme/box.rb"),
        ("ruby", {"lib/acme/box.rb": ()}, "../lib/acme/box", "lib/acme/box.rb"),
        ("ruby", {}, "json", ":json"),
        ("ruby", {}, "./gone", ""),
        ("go", {}, "fmt", ""),
        ("go", {}, "github.com/acme/box/lid", ":github.com/acme/box"),
        ("go", {}, "gopkg.in/yaml.v3", ":gopkg.in/yaml.v3"),
        ("java", {}, "...", ""),
    ],
)
def test_other_languages(
    language: str, files: dict[str, tuple[str, ...]], imported: str, expected: str
) -> None:
    """Files by the end of their path, libraries by the first part of their name."""
    known = {path: file(language, *names) for path, names in files.items()}
    found = leads_to(known or {"other.x": file(language)}, "app/x", imported)
    assert found[:1] == ([expected] if expected else [])


def test_of_several_files_the_nearest_is_meant() -> None:
    """Which has most of its folders in common."""
    files = {f"{part}/src/acme/Box.java": file("java", "Box") for part in ("one", "two")}
    assert leads_to(files, "two/src/X.java", "acme.Box")[0] == "two/src/acme/Box.java:Box"
    assert leads_to(files, "X.java", "acme.Box")[0] == "one/src/acme/Box.java:Box"


def test_each_target_is_named_once() -> None:
    """However often it is imported."""
    assert leads_to(PYTHON, "x.py", "app.core Kit", "app.core Kit,run", "attrs", "attrs field") == [
        "app/core.py:Kit",
        "app/core.py",
        "app/core.py:run",
        ":attrs",
    ]
    assert Target("a") == Target("a", "")


PATHS = [
    *("a/__init__.py", "a/b.py", "a/c/__init__.py", "a/c/d.py", "e.py", "tests/test_e.py"),
    *("w/x.ts", "w/y.js", "w/index.ts", "j/src/acme/Box.java", "j/src/acme/Lid.java", "g/main.go"),
]
MODULES = [
    *("a", "a.b", "a.c", "a.c.d", ".b", ".", "..b", ".d", "e", "b", "attrs", "json"),
    *("./x", "./y.js", "../w", "./index", "left-pad", "acme.Box", "acme.Lid.Box"),
]
NAMES = ["Kit", "Late", "b", "c", "d"]
LANGUAGES = {"py": "python", "ts": "typescript", "js": "javascript", "java": "java", "go": "go"}


@st.composite
def code(draw: st.DrawFn, paths: st.SearchStrategy[list[str]]) -> dict[str, CodeFile]:
    """Some files of several languages, which import each other as they like."""
    imports = st.lists(
        st.tuples(st.sampled_from(MODULES), st.lists(st.sampled_from(NAMES), max_size=2)),
        max_size=3,
    )
    names = st.lists(st.sampled_from(NAMES), unique=True, max_size=2)
    return {
        path: file(
            LANGUAGES[path.rpartition(".")[2]],
            *draw(names),
            imports=[(module, tuple(taken)) for module, taken in draw(imports)],
        )
        for path in sorted(draw(paths))
    }


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), same_files=st.booleans())
def test_what_is_resolved_again_is_what_is_resolved_from_nothing(
    data: st.DataObject, same_files: bool
) -> None:
    """Whichever files change, come and go, and whatever they hand on from each other."""
    some = st.lists(st.sampled_from(PATHS), unique=True)
    before = data.draw(code(some))
    changed = st.lists(st.sampled_from(sorted(before)), unique=True) if before else st.just([])
    after = {**before, **data.draw(code(changed if same_files else some))}
    if not same_files:
        for path in data.draw(changed):
            del after[path]
    after = dict(sorted(after.items()))
    assert resolve_again(after, before, resolve(before)) == resolve(after)
