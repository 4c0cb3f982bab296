"""A source that does all that contextkit expects, for tests to break."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    Indexer,
    IndexReport,
    Recipe,
    RecipeTemplate,
    Record,
    Section,
    SourceInfo,
    Tool,
    hookimpl,
)
from contextkit.models.items import Detail, Style
from contextkit.pipeline.looks import Look, default_text
from contextkit.testing.subject import Subject, open_subject
from contextkit.text.truncation import truncate

TIDES = {
    "high": "High tide in the harbour at noon",
    "low": "Low tide in the harbour at six\n\nMind the rocks.",
    "spring": "Spring tide in the harbour on Sunday",
}
QUERY = "tide in the harbour"


class Tide:
    """Tides that an index run stores; every hook that a source can have."""

    @hookimpl
    def contextkit_source(self) -> Any:
        """Title and description."""
        return SourceInfo(
            title="Tides",
            description="when the water comes",
            scale="calibrated",
            settings={"station": "Oslo"},
        )

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Any:
        """What the store finds."""
        return await self.search(request)

    async def search(self, request: ContextRequest) -> list[ContextItem]:
        """The items of the records that match."""
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(
                "tide",
                hit.record.text,
                hit.relevance,
                {"station": f"the harbour {hit.record.id}", "seen": [{"by": "Ada"}]},
                id=hit.record.id,
                title=hit.record.text.splitlines()[0],
            )
            for hit in hits
        ]

    @hookimpl
    def contextkit_format(self, items: Sequence[ContextItem], style: Style, detail: Detail) -> Any:
        """What the core would make of them."""
        return [default_text(item, Look(style, detail)) for item in items]

    @hookimpl
    def contextkit_truncate(
        self, item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
    ) -> Any:
        """What the core would make of it, but for XML."""
        return None if style == "xml" else truncate(item.content, max_tokens, count)

    @hookimpl
    def contextkit_weight(self, request: ContextRequest) -> Any:
        """Twice that of others."""
        return 2.0

    @hookimpl
    def contextkit_dedup_keys(self, items: Sequence[ContextItem]) -> Any:
        """The station."""
        return [[f"tide:{item.id}"] for item in items]

    @hookimpl
    def contextkit_index(self, indexer: Indexer) -> Any:
        """Store the tides, once."""
        if indexer.state.load().get("done"):
            return IndexReport(unchanged=len(TIDES))
        indexer.records.put([Record(id=key, text=text) for key, text in TIDES.items()])
        indexer.state.save({"done": True})
        return IndexReport(added=len(TIDES))

    @hookimpl
    def contextkit_recipes(self) -> Any:
        """What to do tomorrow, somewhere."""

        def build(place: str) -> Recipe:
            return Recipe(name="outlook", title=place, sections=(Section(source="tide"),))

        return [RecipeTemplate(name="outlook", description="tomorrow", build=build)]

    @hookimpl
    def contextkit_tools(self) -> Any:
        """How many there are."""

        def count_tides(kit: ContextKit) -> dict[str, int]:
            return {"tides": kit.records("tide").count()}

        what = "How many tides there are."
        return [Tool(name="count_tides", description=what, run=count_tides, read_only=True)]

    @hookimpl
    def contextkit_check_settings(self, settings: Mapping[str, Any]) -> Any:
        """There is one."""
        return [f"{key}: not a setting of tide" for key in settings if key != "station"]


@pytest.fixture
def subject_of(tmp_path: Path) -> Iterator[Callable[..., Subject]]:
    """Opens a source as the suite does, indexed: `subject_of(Tide, timeout=1.0)`."""
    folders = (tmp_path / f"workspace{number}" for number in itertools.count())
    with contextlib.ExitStack() as stack:

        def opened(source: object, **options: Any) -> Subject:
            options = {"query": QUERY, "timeout": 20.0, **options}
            subject = stack.enter_context(open_subject(source, "tide", next(folders), **options))
            if subject.has("contextkit_index"):
                subject.kit.index(["tide"])
            return subject

        yield opened


@pytest.fixture(scope="session")
def tide() -> type[Tide]:
    """The source's class, to inherit from."""
    return Tide


@frozen
class Beside:
    """A folder with distributions that processes see beside the environment's own.

    Attributes:
        root: a folder of its own.
        variables: the environment of a process that sees them, without anybody's settings.
    """

    root: Path
    variables: dict[str, str]

    @property
    def workspace(self) -> Path:
        """A folder to run in."""
        return self.root / "workspace"

    def run(self, *command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments, which must go well."""
        ran = subprocess.run(
            [sys.executable, *command],
            cwd=folder or self.workspace,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran

    def install(self, *folders: Path) -> None:
        """Build distributions and install them, offline."""
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index")
        offline = ("--no-deps", "--no-build-isolation", "--target", str(self.root / "installed"))
        self.run(*pip, *offline, *map(str, folders))

    def test(self, folder: Path) -> str:
        """Run the tests in a folder, none of which may be skipped; give pytest's report."""
        ran = self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", folder=folder)
        assert "skipped" not in ran.stdout
        return ran.stdout


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Beside:
    """Nothing installed yet, and a machine that is slow at times."""
    root = tmp_path_factory.mktemp("beside")
    (root / "workspace").mkdir()
    variables = {k: v for k, v in os.environ.items() if not k.startswith("CONTEXTKIT_")}
    path = os.pathsep.join([str(root / "installed"), variables.get("PYTHONPATH", "")])
    own = {
        "PYTHONPATH": path.rstrip(os.pathsep),
        "CONTEXTKIT_HOME": str(root / "home"),
        "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "20",
        "CONTEXTKIT_ASSEMBLE_DEADLINE": "20",
        # Some of the environment's take seconds to import, and no source's tests need one.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    return Beside(root, {**variables, **own})
