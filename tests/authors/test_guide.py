"""`plugins/README.md`, executed from its first snippet to its last, in a fresh environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

from contextkit import ContextItem, ContextKit
from contextkit.plugin.status import HOOKS

pytestmark = pytest.mark.one_python

FOLDER = Path(__file__).parents[2] / "plugins"
GUIDE = (FOLDER / "README.md").read_text(encoding="utf-8")
SNIPPET = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"(Add|add|Write)\s+(?:this|it)\s+(to|into)\s+`([\w./]+)`:\s*\Z")
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
PATIENT = {
    "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "20",
    "CONTEXTKIT_ASSEMBLE_DEADLINE": "20",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


@frozen
class Snippet:
    """A fenced block of the guide.

    Attributes:
        language: `sh` or `python`.
        text: what is in it.
        file: the file that it is for, or "" where it stands alone.
        adds: whether it is put behind what is there.
    """

    language: str
    text: str
    file: str
    adds: bool


def snippets() -> Iterator[Snippet]:
    """All of them, in order."""
    for found in SNIPPET.finditer(GUIDE):
        place = PLACE.search(GUIDE[: found.start()])
        yield Snippet(
            found[1], found[2], place[3] if place else "", place is not None and place[2] == "to"
        )


@frozen
class Author:
    """Somebody at a shell, in an environment on top of the one that the tests run in.

    Attributes:
        variables: what the shell has.
        place: a file that tells the folder that it is in.
    """

    variables: dict[str, str]
    place: Path

    @property
    def folder(self) -> Path:
        """Where the shell is."""
        return Path(self.place.read_text().strip())

    def shell(self, script: str) -> str:
        """Run commands that must go well, in the folder that the last ones ended in."""
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{script}\npwd > {self.place}"],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{script}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout


@pytest.fixture
def author(tmp_path: Path) -> Author:
    """A fresh virtual environment whose programs are those of this one."""
    venv = tmp_path / "venv"
    # Its pip is that of the environment below.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    programs = venv / "bin"
    paths = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = subprocess.run(
        [programs / "python", "-c", paths], capture_output=True, text=True, check=True
    )
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in sorted(ours))
    (Path(site.stdout.strip()) / "tests.pth").write_text(lines, encoding="utf-8")
    for program, module in (("contextkit", "contextkit.cli"), ("pytest", "pytest"), ("pip", "pip")):
        file = programs / program
        file.write_text(f'#!/bin/sh\nexec "{programs / "python"}" -m {module} "$@"\n')
        file.chmod(0o755)
    (tmp_path / "empty").mkdir()
    place = tmp_path / "place"
    place.write_text(str(tmp_path / "empty"))
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("CONTEXTKIT_")}
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    home = {"CONTEXTKIT_HOME": str(tmp_path / "home"), "PATH": path}
    return Author({**inherited, **OFFLINE, **PATIENT, **home}, place)


def test_the_guide_can_be_followed(author: Author) -> None:
    """Every command works, every file is written, and the source is tested and built at the end."""
    shown = []
    for snippet in snippets():
        if snippet.language == "sh":
            shown.append(author.shell(snippet.text))
        elif snippet.file:
            file = author.folder / snippet.file
            before = file.read_text(encoding="utf-8") if snippet.adds else ""
            file.write_text(before + snippet.text, encoding="utf-8")
    begun, assembled, counted, tested, _ = shown
    assert re.search(r"^tide +on +contextkit-tide +0\.1\.0", begun, re.MULTILINE)
    assert "31 passed" in begun
    assert "## Tide\n\nHigh water in Oslo at noon." in assembled
    assert counted == "1 known\n"
    assert "33 passed" in tested
    (wheel,) = (author.folder / "dist").iterdir()
    assert wheel.name == "contextkit_tide-0.1.0-py3-none-any.whl"
    again = author.shell("contextkit assemble 'when is high water in Oslo?' --sources tide")
    assert "**Tide**: High water in Oslo at noon." in again


def test_what_stands_alone_runs() -> None:
    """Those of Python that are for no file: an item, and three plugins that are no sources."""
    alone = [s.text for s in snippets() if s.language == "python" and not s.file]
    assert len(alone) == 4
    for text in alone:
        exec(compile(text, "README.md", "exec"), {})  # noqa: S102 - it is ours


def test_the_item_has_every_field_that_a_source_sets() -> None:
    """A field that is new is missed here."""
    (text,) = [s.text for s in snippets() if "ContextItem(" in s.text and not s.file]
    set_by_the_core = {"also_in", "superseded_by"}
    explained = set(re.findall(r"^    (\w+)=", text, re.MULTILINE))
    positional = {"source", "content", "relevance", "metadata"}
    left_out = {"kind", "text"}
    names = {a.name for a in ContextItem.__attrs_attrs__}
    assert names == explained | positional | set_by_the_core | left_out


def test_the_plugin_that_is_no_source_gives_a_model_and_a_counter(
    tmp_path: Path, make_module: Callable[[str], ModuleType]
) -> None:
    """Both are chosen by their names in the configuration."""
    (text,) = [s.text for s in snippets() if "contextkit_embedder" in s.text and not s.file]
    settings = {"embedding.model": "letters:26", "assemble.tokens": "words"}
    with ContextKit.open(tmp_path, settings=settings, entry_points=False) as kit:
        kit.register(make_module(text), "letters")
        kit.register(make_module(SOURCE), "tide")
        context = kit.assemble_context_sync("water", source_timeout=20, deadline=20)
        assert kit.registry.sources == ["tide"]
        assert kit.embedder("tide").dense(["ab"]) is not None
    assert context.trace.counter == "words"
    assert context.token_count == len(context.markdown.split())


def test_the_plugin_that_summarises_does_so_for_every_source(
    tmp_path: Path, make_module: Callable[[str], ModuleType]
) -> None:
    """What does not fit whole is in its words."""
    (text,) = [s.text for s in snippets() if "def contextkit_compress" in s.text]
    with ContextKit.open(tmp_path, settings={"embedding.model": "none"}, entry_points=False) as kit:
        kit.register(make_module(text), "short")
        kit.register(make_module(TWO_LONG_ITEMS), "tide")
        context = kit.assemble_context_sync(
            "water", max_tokens=400, compress=True, source_timeout=20, deadline=20
        )
    assert [row.verdict for row in context.trace.items] == ["kept", "compressed"]
    assert context.trace.items[1].reason.endswith("by short")
    assert not context.trace.notes


TWO_LONG_ITEMS = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    texts = [f"{word} water at noon. " * 40 for word in ("High", "Low")]
    return [ContextItem("tide", text, 0.9, id=text[:4]) for text in texts]
"""


SOURCE = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("tide", "High water", 0.9)]
"""


@pytest.fixture
def make_module() -> Callable[[str], ModuleType]:
    """Makes a module of its code."""

    def made(text: str) -> ModuleType:
        module = ModuleType("plugin")
        code: Any = compile(text, "README.md", "exec")
        exec(code, vars(module))  # noqa: S102 - it is ours
        return module

    return made


def test_every_hook_is_spoken_of() -> None:
    """The guide names each hook by the need that it is for."""
    assert [hook for hook in HOOKS if f"`{hook}" not in GUIDE and f"def {hook}(" not in GUIDE] == []


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)\)", GUIDE))
def test_links_lead_somewhere(link: str) -> None:
    """Files that the guide speaks of are there."""
    assert (FOLDER / link).exists()
