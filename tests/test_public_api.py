"""What the world sees: names, errors, hooks; and what importing them costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import attrs
import pytest

import contextkit
from contextkit import errors, models
from contextkit.plugin.status import HOOKS
from tests.making import make_registry

# -- names ----------------------------------------------------------------------------------


PUBLIC = (
    "contextkit",
    "contextkit.agent",
    "contextkit.cli",
    "contextkit.indexing",
    "contextkit.models",
    "contextkit.sources",
    "contextkit.text",
)
"""The packages whose names are imported on first use."""


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_there(package: str) -> None:
    """A name of `__all__` is given once, and can be imported."""
    names = importlib.import_module(package).__all__
    assert len(set(names)) == len(names)
    # A module of that name would take the place of the value once it is imported.
    folder = Path(str(importlib.import_module(package).__file__)).parent
    assert not {path.stem for path in folder.iterdir()} & set(names)
    for name in names:
        assert getattr(importlib.import_module(package), name) is not None


@pytest.mark.parametrize("package", PUBLIC)
def test_what_type_checkers_see_is_what_is_imported(package: str) -> None:
    """The imports for type checkers and the lazy names agree."""
    module = importlib.import_module(package)
    (block,) = (
        node
        for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        alias.name: statement.module
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    homes = {
        name: f"contextkit.{home[2:]}" if home.startswith("..") else f"{package}.{home}"
        for home, names in module._NAMES.items()
        for name in names.split()
    }
    assert homes == seen


def test_a_name_that_is_not_there() -> None:
    """The error is the usual one; what is there is listed."""
    with pytest.raises(AttributeError, match="module 'contextkit' has no attribute 'Contextkit'"):
        contextkit.Contextkit  # noqa: B018
    assert set(contextkit.__all__) <= set(dir(contextkit))


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has imported after a statement."""
    program = (
        f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


HEAVY = {
    "numpy",
    "rapidfuzz",
    "qdrant_edge",
    "qdrant_client",
    "tokenizers",
    "cattrs",
    "rich",
    "click",
    "asyncio",
}


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import contextkit", {"contextkit"}),
        (
            "from contextkit import hookimpl, ContextItem, SourceInfo, IndexReport, RecipeTemplate",
            {"contextkit", "attr", "attrs", "pluggy"},
        ),
    ],
)
def test_importing_it_is_cheap(statement: str, allowed: set[str]) -> None:
    """A plugin that needs two names costs a process next to nothing."""
    imported = {module.partition(".")[0] for module in modules_after(statement)}
    assert not imported & HEAVY
    assert imported - set(sys.stdlib_module_names) - {"_virtualenv", "sitecustomize"} <= allowed


@pytest.mark.parametrize(
    "module",
    [
        "dedup",
        "errors",
        "indexing",
        "indexing.files",
        "models",
        "models.records",
        "plugin.spec",
        "text",
        "text.given",
        "text.secrets",
        "workspace.git",
        "workspace.listing",
    ],
)
def test_what_plugins_import_is_light(module: str) -> None:
    """None of the modules of the contract needs an engine, a model or an event loop."""
    assert not modules_after(f"import contextkit.{module}") & HEAVY


def test_a_kit_needs_no_client_of_a_server() -> None:
    """It costs a second to import, for those who have no server."""
    assert "qdrant_client" not in modules_after("import contextkit.kit")


# -- errors ---------------------------------------------------------------------------------


def drawn_tree() -> dict[str, str]:
    """Class -> base, as the docstring of `errors` draws them."""
    drawing = re.search(r"```\n(.*?)```", errors.__doc__ or "", re.DOTALL)
    assert drawing
    path: list[str] = []
    tree = {}
    for line in drawing[1].splitlines():
        indent, name = re.match(r"([│├└─ ]*)(\w+)", line).groups()  # type: ignore[union-attr]
        depth = len(indent) // 4
        path[depth:] = [name]
        tree[name] = path[depth - 1] if depth else "Exception"
    return tree


def test_the_drawn_tree_of_errors_is_the_real_one() -> None:
    """Every class, below its base."""
    classes = {
        name: cls for name, cls in vars(errors).items() if inspect.isclass(cls) and name != "Path"
    }
    real = {
        name: cls.__bases__[0].__name__
        for name, cls in classes.items()
        if issubclass(cls, Exception)
    }
    assert drawn_tree() == real
    assert set(real) <= set(errors.__all__)


def test_errors_say_what_a_program_needs() -> None:
    """Each has an exit code; those of the seeds keep their names and fields."""
    for name in drawn_tree():
        assert getattr(errors, name).exit_code in {1, 2, 3, 4}
    error = errors.InvalidContextTypeError("memory", ["code", "memories"])
    assert (error.invalid_type, error.valid_types) == ("memory", ["code", "memories"])
    assert str(error) == (
        "Invalid source 'memory'. Valid sources: code, memories. Did you mean 'memories'?"
    )
    assert "Valid sources: none." in str(errors.InvalidContextTypeError("x", []))
    assert "'x' (it broke)." in str(errors.InvalidContextTypeError("x", [], "it broke"))
    assert issubclass(errors.InvalidContextTypeError, errors.ContextAssemblyError)


# -- hooks ----------------------------------------------------------------------------------


def test_every_hook_has_its_test() -> None:
    """A hook that is added must be tested."""
    here = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py")
    )
    for name in HOOKS:
        assert here.count(name) > 2, name


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_documented_with_an_example_that_works(name: str) -> None:
    """The example is a plugin's function as it stands."""
    text = inspect.getdoc(HOOKS[name]) or ""
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert example
    assert len(text.partition("```")[0].split()) >= 10
    plugin = ModuleType("example")
    names = {**vars(contextkit), **{key: getattr(contextkit, key) for key in contextkit.__all__}}
    exec(textwrap.dedent(example[1]), names, vars(plugin))  # noqa: S102
    registry = make_registry({"weather": plugin})
    assert registry.implements("weather", name)


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_takes_one_answer_unless_it_collects(name: str) -> None:
    """Hooks that collect or announce something concern every plugin."""
    options = vars(HOOKS[name])["contextkit_spec"]
    collected = {"contextkit_recipes", "contextkit_tools", "contextkit_commands"}
    collected |= {"contextkit_agent_event", "contextkit_redact", "contextkit_signals"}
    collected |= {"contextkit_assembled", "contextkit_health", "contextkit_importers"}
    collected |= {"contextkit_agents"}
    assert options["firstresult"] == (name not in collected)


def test_the_types_in_the_hooks_are_there() -> None:
    """Every name in a signature is one that a plugin's author can import."""
    known = {**vars(contextkit), "Sequence": Sequence, "Awaitable": Awaitable, "Mapping": Mapping}
    signatures = " ".join(str(inspect.signature(function)) for function in HOOKS.values())
    words = set(re.findall(r"[A-Z]\w+", signatures))
    words -= {"None", "Callable", "Any", "Group"}
    public = {*contextkit.__all__, *models.__all__}
    assert all(word in known or word in public for word in words)
    assert attrs.has(contextkit.ContextRequest)
