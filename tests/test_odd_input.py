"""Whatever comes in, there is an answer or an error of ours, and never a traceback.

Each property's cases share one kit or one store, as opening one costs more than a case.
"""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import fields
from hypothesis import given, settings, strategies as st

from contextkit import ContextItem, ContextKit, SourceInfo, hookimpl
from contextkit.agent.answer import answer_event
from contextkit.agent.events import PROMPT, START, HookEvent
from contextkit.agent.failures import FAILED_TOOL, USED_TOOL
from contextkit.agent.notify import as_message, tell_plugins
from contextkit.config.load import load_config, user_config_file
from contextkit.config.sections import SECTIONS, STRATEGY_PARTS, SourceSettings
from contextkit.config.settings import Config
from contextkit.errors import ConfigError, ContextKitError, InvalidRequestError
from contextkit.models.items import DETAILS, GROUPINGS, SHARES, STYLES
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.transfer import FORMAT, FORMAT_VERSION, import_records
from contextkit.testing import open_kit, open_records, own_home
from contextkit.workspace.find import Workspace
from tests.odd_values import NUMBERS, TEXTS, VALUES

thorough = settings.get_profile("thorough")

KEYS = [
    "project",
    *(f"{section}.{a.name}" for section, kind in SECTIONS.items() for a in fields(kind)),
    *(f"sources.code.{a.name}" for a in fields(SourceSettings) if a.name != "own"),
    *(f"strategies.default.{part}" for part in STRATEGY_PARTS),
    *("sources.code.include", "sources.my_own.x", "sources", "strategies.x", "zzz", "assemble"),
]
"""Every setting there is, and some that are none."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files the cases write."""
    return tmp_path_factory.mktemp("workspace")


def _loaded(workspace: Workspace, **layers: Any) -> None:
    with contextlib.suppress(ConfigError):
        config = load_config(workspace, **{"environment": {}, **layers})
        assert isinstance(config, Config)
        config.described()


# -- settings ---------------------------------------------------------------------------------

_TOML_VALUES = st.sampled_from(
    (
        *("1", "-1", "0", "nan", "inf", "1e999", "9" * 400, "0x_1", "true", "''", "'x'", "'a:b'"),
        *("[]", "['a', 'a']", "[1]", "[{}]", "[[[]]]", "{}", "{a = 1}", "{a_b = 1, a-b = 2}"),
        *(
            "{a = {b = 'c'}}",
            "2026-01-01",
            "07:30:00",
            "'\\ud800'",
            '"\\u0000"',
            "x",
            "",
            "'memory'",
        ),
    )
)
_LINES = st.builds("{} = {}".format, st.sampled_from(KEYS) | TEXTS.map(repr), _TOML_VALUES)
_TOML = (
    st.lists(_LINES, max_size=4, unique=True).map("\n".join)
    | st.text(max_size=200)
    | st.lists(st.sampled_from("[]{}=.#'\"\n,a1 "), max_size=60).map("".join)
)


@given(users=_TOML, workspaces=_TOML, in_table=st.booleans())
@thorough
def test_files_of_settings(workspace: Path, users: str, workspaces: str, in_table: bool) -> None:
    """The user's and the workspace's, which may be the table of a `pyproject.toml`."""
    own = user_config_file()
    theirs = workspace / ("pyproject.toml" if in_table else "contextkit.toml")
    table = "[tool.contextkit]\n" if in_table else ""
    own.write_bytes(users.encode("utf-8", "surrogatepass"))
    theirs.write_bytes(f"{table}{workspaces}".encode("utf-8", "surrogatepass"))
    _loaded(Workspace(workspace, theirs))


@given(given=st.dictionaries(st.sampled_from(KEYS) | TEXTS, VALUES, max_size=3))
@thorough
def test_settings_that_a_host_gives(workspace: Path, given: dict[str, Any]) -> None:
    """Any key and any value."""
    _loaded(Workspace(workspace), flags=given)


_VARIABLES = st.sampled_from(KEYS).map(
    lambda key: f"CONTEXTKIT_{key.upper().replace('.', '_')}"
) | TEXTS.map("CONTEXTKIT_{}".format)


@given(environment=st.dictionaries(_VARIABLES, TEXTS | NUMBERS.map(str), max_size=3))
@thorough
def test_variables_of_the_environment(workspace: Path, environment: dict[str, str]) -> None:
    """Any name and any text."""
    _loaded(Workspace(workspace), environment=environment)


# -- records ----------------------------------------------------------------------------------

_RECORD = {
    "id": "1",
    "source": "notes",
    "project": "p",
    "text": "high water",
    "keywords": "",
    "created_at": "2026-03-01T12:00:00+00:00",
    "fields": {},
}
_RECORDS = st.fixed_dictionaries(
    {}, optional={key: VALUES | st.just(value) for key, value in _RECORD.items()}
).map(lambda odd: {**_RECORD, **odd})


def _as_line(value: Any) -> str:
    return json.dumps(value)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real store, searched by keywords."""
    with (
        own_home(),
        open_records(tmp_path_factory.mktemp("store"), "notes", model="none") as records,
    ):
        yield records._store


@given(
    header=st.just({"format": FORMAT, "version": FORMAT_VERSION})
    | st.fixed_dictionaries(
        {"format": st.just(FORMAT), "version": st.just(FORMAT_VERSION), "records": VALUES}
    )
    | VALUES,
    lines=st.lists(_RECORDS.map(_as_line) | VALUES.map(_as_line) | TEXTS, max_size=3),
)
@thorough
def test_lines_of_an_import(store: Any, header: Any, lines: list[str]) -> None:
    """A bad line costs itself; a file that is no export is refused."""
    stream = io.StringIO("\n".join([_as_line(header), *lines]), newline="\n")
    with contextlib.suppress(ContextKitError):
        report = import_records(store, stream, lambda *_: None)
        assert report.imported + report.failed <= stream.getvalue().count("\n")


# -- questions, hooks and renderers -----------------------------------------------------------


class Source:
    """Finds whatever a case says."""

    found: list[ContextItem] = []  # noqa: RUF012 - the cases', one after the other
    heard = 0

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return SourceInfo(scale="calibrated")

    @hookimpl
    def contextkit_query(self) -> list[ContextItem]:
        return list(Source.found)

    @hookimpl
    def contextkit_agent_event(self, event: Any) -> None:
        Source.heard += 1


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextKit]:
    """A kit with one source."""
    folder = tmp_path_factory.mktemp("kit")
    with (
        own_home(),
        open_kit(folder, {"tide": Source()}, settings={"embedding.model": "none"}) as k,
    ):
        yield k


_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": NUMBERS | VALUES,
        "limit": NUMBERS | VALUES,
        "style": st.sampled_from(STYLES) | VALUES,
        "detail": st.sampled_from(DETAILS) | VALUES,
        "group_by": st.sampled_from(GROUPINGS) | VALUES,
        "shares": st.sampled_from(SHARES) | VALUES,
        "weights": st.dictionaries(TEXTS | st.just("tide"), VALUES, max_size=2) | VALUES,
        "filters": VALUES,
        "since": VALUES,
        "kinds": VALUES,
        "strategy": VALUES,
        "session": VALUES,
        "tokens": VALUES,
        "deadline": VALUES,
        "exclude": VALUES,
        "min_relevance": VALUES,
        "guard": VALUES,
    },
)


@given(
    query=TEXTS | VALUES,
    sources=st.none() | st.just(["tide"]) | VALUES,
    options=_OPTIONS,
)
@thorough
def test_a_question(kit: ContextKit, query: Any, sources: Any, options: dict[str, Any]) -> None:
    """Any query and any options: a context, or an error that says what is wrong with them."""
    Source.found = [ContextItem("tide", "high water at noon", 0.9)]
    with contextlib.suppress(ContextKitError):
        context = kit.assemble_context_sync(query, sources, **options)
        assert isinstance(context.markdown, str)


_EVENTS = st.fixed_dictionaries(
    {"hook_event_name": st.sampled_from([START, PROMPT, USED_TOOL, FAILED_TOOL, "Stop"]) | VALUES},
    optional={
        "session_id": st.just("s") | VALUES,
        "cwd": VALUES,
        "prompt": st.just("when is high water at noon?") | VALUES,
        "source": st.sampled_from(["startup", "clear"]) | VALUES,
        "tool_name": st.just("Bash") | VALUES,
        "tool_input": st.fixed_dictionaries({"command": st.just("pytest") | VALUES}) | VALUES,
        "tool_response": VALUES,
        "error": VALUES,
    },
)


@given(event=_EVENTS | VALUES)
@thorough
def test_an_event_of_an_agent(kit: ContextKit, event: Any) -> None:
    """It is answered or refused in words, and those who listen are told of what is an event."""
    try:
        asked = HookEvent.from_json(event)
    except InvalidRequestError:
        return
    answer = answer_event(kit, asked, time.monotonic() + 30)
    assert set(answer) <= {"context", "items", "tokens"}
    message = as_message(event)
    if message is not None:
        tell_plugins(kit, json.loads(message))


_ITEMS = st.lists(
    st.builds(
        ContextItem,
        source=st.just("tide"),
        content=TEXTS,
        relevance=st.floats(0, 1),
        metadata=st.dictionaries(TEXTS, VALUES, max_size=3),
        id=TEXTS,
        title=TEXTS,
        location=TEXTS,
    ),
    max_size=3,
)


@given(
    items=_ITEMS,
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(DETAILS),
    group_by=st.sampled_from(GROUPINGS),
    guard=st.booleans(),
    include_sources=st.booleans(),
)
@thorough
def test_items_of_any_texts_are_rendered(
    kit: ContextKit, items: list[ContextItem], **look: Any
) -> None:
    """In every style, at every detail, as text that can be written down."""
    Source.found = items
    context = kit.assemble_context_sync("tide", ["tide"], max_tokens=500, min_relevance=0.0, **look)
    context.markdown.encode("utf-8", "surrogatepass")
    assert context.token_count <= 500


# -- the formats of the sources ---------------------------------------------------------------

_METADATA = (
    *("file_path", "start_line", "end_line", "language", "kind", "unit_type", "name", "signature"),
    *("docstring", "headings", "tags", "category", "importance", "author", "date", "files", "sha"),
    *("insertions", "deletions", "goal", "outcome", "lesson", "surprise", "confidence", "steps"),
    *("session", "exit_code", "command", "output", "members", "size", "created_at", "what", "path"),
)


@pytest.fixture(scope="module")
def installed() -> SourceRegistry:
    """The sources that are installed."""
    return SourceRegistry(Config())


@given(
    data=st.data(),
    metadata=st.dictionaries(st.sampled_from(_METADATA), VALUES, max_size=5),
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(DETAILS),
    text=TEXTS,
)
@thorough
def test_every_source_formats_items_of_any_fields(
    installed: SourceRegistry, data: st.DataObject, metadata: dict[str, Any], text: str, **look: Any
) -> None:
    """Records come from imports and from other versions, too: their fields may be anything."""
    names = [name for name in installed.sources if installed.implements(name, "contextkit_format")]
    name = data.draw(st.sampled_from(names))
    item = ContextItem(name, text, 0.5, metadata=metadata)
    (shown,) = installed.call(name, "contextkit_format", items=[item], **look)
    assert isinstance(shown, str)
