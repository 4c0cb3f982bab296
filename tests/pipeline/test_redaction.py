"""Secrets are replaced before a record is stored, an item shown or an event logged."""

from __future__ import annotations

import io
import json
import re
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextKit, Record, SecretSpan, hookimpl
from contextkit.agent.sessions import journal, note
from contextkit.errors import ConfigError
from contextkit.indexing.files import FileIndex
from contextkit.indexing.listing import FileListing, WorkspaceFile
from contextkit.logs import get_logger
from contextkit.store.transfer import export_records, import_records
from tests.making import KEYWORDS, OpenKit, make_plugin
from tests.secret_kinds import planted

TOKEN = planted("GitHub personal token", "redaction").value
OTHER = planted("Stripe secret key", "redaction").value
MARK = "[secret: GitHub token]"
Tide = namedtuple("Tide", ["name", "marks"])
BADGE = re.compile(r"badge-\d{4}")


def badges(texts: Sequence[str]) -> Sequence[Sequence[SecretSpan]]:
    """What a plugin adds to what the core finds."""
    return [[SecretSpan(*at.span(), "staff badge") for at in BADGE.finditer(t)] for t in texts]


def contextkit_redact(texts: Sequence[str]) -> Any:
    """The hook itself."""
    return badges(texts)


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """A kit with a source whose records hold what they are given."""
    return open_kit({"tide": make_plugin([])}, settings=KEYWORDS)


def test_a_record_is_stored_without_its_secrets(kit: ContextKit) -> None:
    """Text, keywords and fields at any depth; what is returned is what is stored."""
    fields = {"note": f"x {TOKEN}", "deep": [{"a": [TOKEN, 1]}], "n": 1}
    given = Record(id="a", text=f"push with {TOKEN}", keywords=f"push {TOKEN}", fields=fields)
    [stored] = kit.records("tide").put([given])
    assert kit.records("tide").get("a") == [stored]
    assert (stored.text, stored.keywords) == (f"push with {MARK}", f"push {MARK}")
    assert stored.fields == {
        "note": f"x {MARK}",
        "deep": [{"a": [MARK, 1]}],
        "n": 1,
        "redactions": 1,
    }
    assert kit.records("tide").put([stored]) == [stored]


def test_what_finds_a_record_stays(open_kit: OpenKit) -> None:
    """Ids, paths and the fields that a source filters by are no text."""
    from contextkit import SourceInfo

    info = SourceInfo(indexed_fields=("session",))
    kit = open_kit({"tide": make_plugin([], contextkit_source=info)}, settings=KEYWORDS)
    fields = {"file_path": f"{TOKEN}.md", "session": TOKEN, "note": TOKEN}
    [stored] = kit.records("tide").put([Record(id=TOKEN, text="plain", fields=fields)])
    assert stored.id == TOKEN
    assert stored.fields == {**fields, "note": MARK, "redactions": 1}


def test_what_the_user_wants_kept_is_kept(kit: ContextKit) -> None:
    """A record says so itself, and an export and an import keep to it."""
    [stored] = kit.records("tide").put(
        [Record(id="a", text=f"push with {TOKEN}", fields={"keep_secret": True})]
    )
    assert stored.text == f"push with {TOKEN}"
    file = io.StringIO()
    export_records(kit.store, file, lambda *_: None, kit.redactor.records)
    kit.records("tide").delete("a")
    import_records(kit.store, file.getvalue().splitlines(), lambda *_: None, kit.redactor.records)
    assert kit.records("tide").get("a") == [stored]


def test_imports_and_exports_have_no_secrets(kit: ContextKit) -> None:
    """Those that an earlier version stored leave by either way."""
    kit.store.put([Record(id="a", text=TOKEN, source="tide", project=kit.project)])
    raw, clean = io.StringIO(), io.StringIO()
    export_records(kit.store, raw, lambda *_: None)
    export_records(kit.store, clean, lambda *_: None, kit.redactor.records)
    assert TOKEN in raw.getvalue()
    assert TOKEN not in clean.getvalue()
    import_records(kit.store, raw.getvalue().splitlines(), lambda *_: None, kit.redactor.records)
    [stored] = kit.records("tide").get("a")
    assert (stored.text, stored.fields["redactions"]) == (MARK, 1)


def test_every_plugin_that_is_on_adds_to_what_is_found(open_kit: OpenKit) -> None:
    """`contextkit_redact` gets the texts of a batch at once; the core's findings come first."""
    batches: list[list[str]] = []

    def watched(texts: Sequence[str]) -> Any:
        batches.append(list(texts))
        return [[SecretSpan(0, len(text), "all of it")] for text in texts]

    kit = open_kit(
        {
            "badges": make_plugin(contextkit_redact=contextkit_redact),
            "off": make_plugin(contextkit_redact=contextkit_redact),
            "tide": make_plugin([]),
            "watched": make_plugin(contextkit_redact=lambda texts: None),
        },
        settings=KEYWORDS,
    )
    kit.disable("off")
    records = [Record(id=str(n), text=f"{n}: badge-123{n} and {TOKEN}") for n in range(2)]
    assert [record.text for record in kit.records("tide").put(records)] == [
        f"{n}: [secret: staff badge] and {MARK}" for n in range(2)
    ]
    kit.register(make_plugin(contextkit_redact=watched), "all")
    kit.records("tide").put([*records, Record(id="2", text="nothing here")])
    assert [[text[:7] for text in batch] for batch in batches] == [
        ["0: badg", "1: badg", "nothing"]
    ]
    assert kit.records("tide").get("2")[0].text == "[secret: all of it]"
    # Of parts that overlap the one that was found first stays.
    assert MARK in kit.records("tide").get("1")[0].text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RuntimeError("no"), "RuntimeError: no"),
        ("text", "expected a sequence, got a str"),
        ([], "returned 0 results for 1 texts"),
        ([["a"]], "entry 0 is a str, expected SecretSpan"),
        ([[SecretSpan(0, 99, "x")]], "is not a part of a text of 9 characters"),
        ([[SecretSpan(3, 3, "x")]], "is not a part of a text"),
        ([[SecretSpan(0, 1, "a]b")]], "kind must be 1 to 60 characters on one line"),
        ([[SecretSpan("0", 1, "a")]], "start is a str"),  # type: ignore[arg-type]
    ],
)
def test_a_plugin_that_fails_costs_its_own_findings(
    open_kit: OpenKit, answer: Any, reason: str
) -> None:
    """The others' are replaced, the record is stored, and the log names who failed."""

    def failing(texts: Sequence[str]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    plugins = {
        "bad": make_plugin(contextkit_redact=hookimpl(_named(failing))),
        "good": make_plugin(contextkit_redact=contextkit_redact),
        "tide": make_plugin([]),
    }
    kit = open_kit(plugins, settings=KEYWORDS)
    with capture_logs() as logs:
        [stored] = kit.records("tide").put([Record(id="a", text="badge-1234"[:9] + "4")])
    assert stored.text == "[secret: staff badge]"
    (event,) = [each for each in logs if each["event"] == "hook_failed"]
    assert (event["source"], event["hook"]) == ("bad", "contextkit_redact")
    assert reason.replace("9 characters", "10 characters") in event["reason"]


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = "contextkit_redact"
    return function


async def test_items_that_no_store_gave_are_redacted(open_kit: OpenKit) -> None:
    """What a live source finds has none either, and the trace says how many there were."""
    item = ContextItem(
        "live", f"High water, {TOKEN}", 0.9, {"raw": TOKEN}, title=TOKEN, must_keep=(TOKEN,)
    )
    kit = open_kit({"live": make_plugin([item])}, settings=KEYWORDS)
    context = await kit.assemble_context("high water")
    assert TOKEN not in context.markdown
    assert TOKEN not in repr(context)
    assert context.trace.redactions == 1
    assert context.as_dict()["trace"]["redactions"] == 1


async def test_what_the_store_gave_is_not_searched_again(open_kit: OpenKit) -> None:
    """It was redacted when it was stored; a source's own items are searched."""
    searched: list[str] = []

    def watching(texts: Sequence[str]) -> None:
        searched.extend(texts)

    async def contextkit_query(request: Any) -> list[ContextItem]:
        hits = await request.records.search(request.query)
        found = [ContextItem("tide", h.record.text, 0.9, id=h.record.id) for h in hits]
        return [*found, ContextItem("tide", "high water of the source's own", 0.8, id="own")]

    plugins = {
        "tide": make_plugin(contextkit_query=contextkit_query),
        "watching": make_plugin(contextkit_redact=hookimpl(_named(watching))),
    }
    kit = open_kit(plugins, settings=KEYWORDS)
    kit.records("tide").put([Record(id="a", text="high water of the store")])
    searched.clear()
    context = await kit.assemble_context("high water")
    assert len(context.items) == 2
    assert "high water of the source's own" in searched
    assert "high water of the store" not in searched


async def test_the_items_of_all_sources_are_one_batch(open_kit: OpenKit) -> None:
    """A slow plugin delays a context once for the query, and once for the items."""
    batches: list[list[str]] = []

    def watching(texts: Sequence[str]) -> None:
        batches.append(list(texts))

    names = ("ebb", "flood", "spring")
    plugins = {n: make_plugin([ContextItem(n, f"high water of {n}", 0.9)]) for n in names}
    plugins["watching"] = make_plugin(contextkit_redact=hookimpl(_named(watching)))
    kit = open_kit(plugins, settings=KEYWORDS)
    await kit.assemble_context("high water")
    assert batches == [["high water"], [f"high water of {name}" for name in names]]


async def test_a_source_whose_text_breaks_a_plugin_uncovers_no_other(open_kit: OpenKit) -> None:
    """The plugin is then called for each source by itself."""

    def fragile(texts: Sequence[str]) -> Any:
        if any("broken" in text for text in texts):
            raise ValueError("no such text")
        return badges(texts)

    plugins = {
        "bad": make_plugin([ContextItem("bad", "high water, broken", 0.9)]),
        "fragile": make_plugin(contextkit_redact=hookimpl(_named(fragile))),
        "good": make_plugin([ContextItem("good", "high water, badge-1234", 0.9)]),
    }
    kit = open_kit(plugins, settings=KEYWORDS)
    context = await kit.assemble_context("high water")
    assert {item.content for item in context.items} == {
        "high water, broken",
        "high water, [secret: staff badge]",
    }


async def test_metadata_of_a_foreign_kind_is_redacted(open_kit: OpenKit) -> None:
    """A named tuple becomes a plain one; its class may not be made again of a changed value."""
    found = {"mark": Tide(TOKEN, [TOKEN])}
    kit = open_kit({"live": make_plugin([ContextItem("live", "high water", 0.9, found)])})
    [item] = (await kit.assemble_context("high water")).items
    assert item.metadata == {"mark": (MARK, [MARK])}


def test_a_record_with_a_secret_may_have_a_named_tuple(kit: ContextKit) -> None:
    """It is stored as the list that it is in JSON."""
    kit.records("tide").put([Record(id="a", text=TOKEN, fields={"mark": Tide(TOKEN, [TOKEN])})])
    [stored] = kit.records("tide").scan()
    assert stored.fields["mark"] == [MARK, [MARK]]


async def test_what_is_asked_is_kept_without_secrets(kit: ContextKit) -> None:
    """A trace, which caches keep, has the query."""
    context = await kit.assemble_context(f"why does {TOKEN} fail?")
    assert context.trace.query == f"why does {MARK} fail?"
    assert TOKEN not in repr(context.trace)


def test_a_switch_turns_it_off(open_kit: OpenKit) -> None:
    """`redact.enabled` is the user's: what is stored then is what was given."""
    settings = {**KEYWORDS, "redact.enabled": False}
    kit = open_kit({"tide": make_plugin([])}, settings=settings)
    [stored] = kit.records("tide").put([Record(id="a", text=TOKEN)])
    assert stored.text == TOKEN


def test_a_workspace_cannot_turn_it_off(kit: ContextKit) -> None:
    """A cloned repository's file that does is refused."""
    folder = kit.workspace.root
    (folder / "contextkit.toml").write_text("[redact]\nenabled = false\n")
    with pytest.raises(ConfigError, match=r"redact\.enabled: this setting is yours alone"):
        ContextKit.open(folder, entry_points=False)


def test_an_index_run_says_how_many_were_replaced(open_kit: OpenKit) -> None:
    """The core counts; a source need not."""

    def contextkit_index(indexer: Any) -> None:
        indexer.records.put([Record(id="a", text=f"{TOKEN} {OTHER}"), Record(id="b", text=TOKEN)])

    kit = open_kit({"tide": make_plugin([], contextkit_index=contextkit_index)}, settings=KEYWORDS)
    report = kit.index()["tide"].report
    assert report is not None
    assert report.redacted == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("kind", ["RSA private key", "GitHub personal token"])
def test_a_secret_is_replaced_before_its_file_is_cut(
    open_kit: OpenKit, kind: str, encoding: str
) -> None:
    """A part of it looks like nothing; the lines behind it keep their numbers."""
    secret = planted(kind, "file").value

    def contextkit_index(indexer: Any) -> Any:
        listing = FileListing(indexer.workspace)
        listing.add("notes.txt")
        return FileIndex(indexer, version=1).update(listing, parts_of)

    def parts_of(file: WorkspaceFile, content: bytes) -> list[Record]:
        text = content.decode(encoding)
        parts = [
            (f"{row}:{start}", line[start : start + 25])
            for row, line in enumerate(text.split("\n"))
            for start in range(0, len(line), 25)
        ]
        fields = {"file_path": file.path}
        return [Record(id=place, text=part, fields=fields) for place, part in parts]

    kit = open_kit({"tide": make_plugin([], contextkit_index=contextkit_index)}, settings=KEYWORDS)
    (kit.workspace.root / "notes.txt").write_bytes(f"caf\xe9\n{secret}\nlast".encode(encoding))
    report = kit.index()["tide"].report

    assert report is not None
    assert report.redacted == 1
    last = len(secret.splitlines()) + 1
    name = kind.replace("RSA ", "").replace(" personal", "")
    records = {record.id: record for record in kit.records("tide").scan()}
    assert {id_: record.text for id_, record in records.items()} == {
        "0:0": "caf\xe9",
        "1:0": f"[secret: {name}]",
        f"{last}:0": "last",
    }
    assert [records[id_].fields.get("redactions") for id_ in ("0:0", "1:0")] == [None, 1]


def test_a_binary_file_is_indexed_as_it_is(open_kit: OpenKit) -> None:
    """A mark would break its format."""
    content = f"\0{TOKEN}".encode()
    got = []

    def contextkit_index(indexer: Any) -> Any:
        listing = FileListing(indexer.workspace)
        listing.add("data.bin")
        return FileIndex(indexer, version=1).update(listing, records_of)

    def records_of(_: WorkspaceFile, content: bytes) -> list[Record]:
        got.append(content)
        return []

    kit = open_kit({"tide": make_plugin([], contextkit_index=contextkit_index)}, settings=KEYWORDS)
    (kit.workspace.root / "data.bin").write_bytes(content)
    kit.index()

    assert got == [content]


def test_logs_and_the_hooks_journal_have_no_secrets() -> None:
    """Whatever an error's message quotes."""
    with capture_logs() as logs:
        get_logger("test").warning("failed", reason=f"no {TOKEN}", parts=[{"a": TOKEN}], n=1)
    assert logs == [
        {
            "event": "failed",
            "log_level": "warning",
            "reason": f"no {MARK}",
            "parts": [{"a": MARK}],
            "n": 1,
        }
    ]
    note("hook_failed", reason=f"no {TOKEN}")
    line = json.loads(journal().read_text().splitlines()[-1])
    assert line["reason"] == f"no {MARK}"
