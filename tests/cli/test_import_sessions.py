"""`contextkit import` of agents' past sessions: found, imported once, continued, counted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit import ContextKit
from contextkit.testing import wait_until
from contextkit_events import EventLog

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

NOW = datetime.now(UTC)
IMPORT = ("import", "claude-code")

RETRIES = (
    ("user", "How should the client retry failed uploads?"),
    ("assistant", "We decided: retries use exponential backoff with jitter, five attempts."),
    ("user", "Good, write that into the client."),
    ("assistant", "The client now retries five times; the tests pass."),
)

PARROT = """\
    from datetime import datetime, timezone
    from functools import partial
    from pathlib import Path

    from contextkit import hookimpl
    from contextkit.agent import json_lines
    from contextkit.models import LeftOut, PastEvent, SessionImporter, Transcript


    def read(file):
        for number, line in json_lines(file):
            if isinstance(line, LeftOut):
                yield line
                continue
            report = {"hook_event_name": "UserPromptSubmit", "prompt": line["said"]}
            when = datetime(2026, 3, 2, 9, number, tzinfo=timezone.utc)
            own = f"{file.stem}-{number}"
            yield PastEvent(id=own, created_at=when, folder=line["in"], report=report)


    def find(folder):
        for file in (folder or Path("/nowhere")).glob("*.jsonl"):
            yield Transcript(session=file.stem, file=file, read=partial(read, file))


    @hookimpl
    def contextkit_importers():
        return [SessionImporter(name="NAME", summary="Parrot", find=find)]
"""


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Claude Code keeps its transcripts."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "claude" / "projects" / "-a-project"


def lines_of(name: str, folder: Path, said: Any = RETRIES, ago: timedelta | None = None) -> str:
    """A transcript of turns, one a minute."""
    start = NOW - (ago or timedelta(days=7))
    lines = [
        {
            "type": role,
            "message": {"role": role, "content": text},
            "cwd": str(folder),
            "sessionId": name,
            "uuid": f"{name}-{number}",
            "timestamp": (start + timedelta(minutes=number)).isoformat(),
            "version": "2.1.63",
        }
        for number, (role, text) in enumerate(said)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def write(projects: Path, name: str, text: str) -> Path:
    """Write a transcript."""
    projects.mkdir(parents=True, exist_ok=True)
    file = projects / f"{name}.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def stored(folder: Path) -> int:
    """How many events there are."""
    with ContextKit.open(folder) as kit:
        return EventLog(kit.records("events")).count()


def test_what_was_decided_is_found_with_its_date_and_what_followed(
    contextkit: CommandLine, projects: Path
) -> None:
    """A session of last week answers a question of today."""
    write(projects, "s1", lines_of("s1", contextkit.folder))
    result = contextkit(*IMPORT)
    assert result.stdout.splitlines()[0] == "4 events of 1 session imported"
    context = contextkit("assemble", "what did we decide about retries last week?").stdout
    day = f"{NOW - timedelta(days=7):%Y-%m-%d}"
    assert f"[{day} " in context
    decided, followed = "exponential backoff with jitter", "The client now retries five times"
    assert -1 < context.index(decided) < context.index(followed)


def test_a_second_run_writes_nothing(contextkit: CommandLine, projects: Path) -> None:
    """It says that the session was imported before."""
    write(projects, "s1", lines_of("s1", contextkit.folder))
    contextkit(*IMPORT)
    again = contextkit.json(*IMPORT)
    assert (again["events"], again["unchanged"], again["known"]) == (0, 1, 0)
    assert stored(contextkit.folder) == 4
    assert contextkit("events", "clear", "--imported").stdout == "Cleared 4 events\n"


def test_importers_are_listed_with_their_sessions(
    contextkit: CommandLine, projects: Path, tmp_path: Path
) -> None:
    """Those of this project, and of all."""
    write(projects, "s1", lines_of("s1", contextkit.folder))
    write(projects, "s2", lines_of("s2", tmp_path))
    listed = contextkit.json("import")
    assert {name: (row["sessions"], row["of_all_projects"]) for name, row in listed.items()} == {
        "claude-code": (1, 2),
        "codex": (0, 0),
    }
    assert "claude-code  1         2" in contextkit("import").stdout


def test_only_sessions_of_this_project_are_imported(
    contextkit: CommandLine, repository: Repository, projects: Path, tmp_path: Path
) -> None:
    """Work trees, clones and deleted subfolders are of the project; the rest is counted."""
    tree, clone, other = (tmp_path / name for name in ("tree", "clone", "other"))
    repository.git("worktree", "add", "--quiet", str(tree))
    repository.git("clone", "--quiet", ".", str(clone))
    other.mkdir()
    gone = contextkit.folder / "gone"
    folders = {"here": contextkit.folder, "tree": tree, "clone": clone, "gone": gone}
    folders["other"] = other
    for name, folder in {**folders, "elsewhere": tmp_path / "missing"}.items():
        write(projects, name, lines_of(name, folder))
    write(projects, "empty", "")
    assert contextkit.json(*IMPORT)["skipped"] == {
        "session of another project": 1,
        "session in a folder that no longer exists": 1,
        "session without a working folder": 1,
    }
    with ContextKit.open(contextkit.folder) as kit:
        assert set(EventLog(kit.records("events")).sessions()) == {"here", "tree", "clone", "gone"}


def test_a_plain_folder_claims_no_folder_that_is_gone(
    elsewhere: Callable[..., CommandLine], projects: Path, tmp_path: Path
) -> None:
    """A home may have had other projects in it."""
    write(projects, "s1", lines_of("s1", tmp_path / "gone"))
    assert elsewhere(tmp_path).json(*IMPORT)["events"] == 0


def test_a_session_that_is_going_on_is_continued(contextkit: CommandLine, projects: Path) -> None:
    """A half-written line is no damage, and is read when it is whole."""
    text = lines_of("s1", contextkit.folder)
    file = write(projects, "s1", text[: text.rindex("\n{") + 30])
    first = contextkit.json(*IMPORT)
    assert (first["events"], first["skipped"]) == (3, {})
    file.write_text(text, encoding="utf-8")
    second = contextkit.json(*IMPORT)
    assert (second["events"], second["known"]) == (1, 3)


def test_damaged_lines_are_counted(contextkit: CommandLine, projects: Path) -> None:
    """The others are imported, and the exit code is 0."""
    text = lines_of("s1", contextkit.folder)
    write(projects, "s1", '{"type": "of-tomorrow"}\n{\n' + text)
    result = contextkit(*IMPORT)
    assert result.exit_code == 0
    assert "1  damaged line" in result.stdout
    assert "1  bookkeeping line" in result.stdout


def test_a_dry_run_and_a_date(contextkit: CommandLine, projects: Path) -> None:
    """`--dry-run` stores nothing; `--since` leaves out what came before."""
    write(projects, "new", lines_of("new", contextkit.folder, ago=timedelta(days=1)))
    write(projects, "old", lines_of("old", contextkit.folder, ago=timedelta(days=30)))
    longer_ago = write(projects, "older", lines_of("older", contextkit.folder))
    os.utime(longer_ago, (0, 0))
    dry = contextkit(*IMPORT, "--dry-run")
    assert dry.stdout.startswith("12 events of 3 sessions would be imported")
    assert stored(contextkit.folder) == 0
    done = contextkit.json(*IMPORT, "--since", "7d")
    assert done["events"] == 4
    assert done["skipped"] == {
        "event before --since": 4,
        "session that ended before --since": 1,
    }


def test_a_killed_import_is_continued(contextkit: CommandLine, projects: Path) -> None:
    """After `kill -9` the next run stores the rest, and nothing twice."""
    sessions = 40
    for number in range(sessions):
        name = f"s{number:02}"
        said = [("user", f"Question {number}.{place} about tides?") for place in range(100)]
        write(projects, name, lines_of(name, contextkit.folder, said))
    with subprocess.Popen(
        contextkit.command(*IMPORT), cwd=contextkit.folder, env=contextkit.variables()
    ) as process:
        wait_until(lambda: stored(contextkit.folder) > 0, "the import has begun to write")
        process.send_signal(signal.SIGKILL)
    before = stored(contextkit.folder)
    assert 0 < before < 100 * sessions
    done = contextkit.json(*IMPORT)
    assert done["events"] == 100 * sessions - before
    assert stored(contextkit.folder) == 100 * sessions


def test_anybody_can_add_an_importer(
    contextkit: CommandLine, install: Callable[..., str], tmp_path: Path
) -> None:
    """A plugin's importer is run by its name, over the folder that is named."""
    install("parrot", PARROT.replace("NAME", "parrot"))
    line = json.dumps({"said": "Which tides are high?", "in": str(contextkit.folder)})
    write(tmp_path / "parrot", "p1", f"{line}\n")
    done = contextkit.json("import", "parrot", "--from", str(tmp_path / "parrot"))
    assert (done["events"], done["sessions"]) == (1, 1)


def test_a_source_that_cannot_keep_sessions_stops_no_other(
    contextkit: CommandLine, install: Callable[..., str], projects: Path
) -> None:
    """Its function cannot be imported; events are stored nevertheless."""
    broken = "contextkit_source = hookimpl(lambda: SourceInfo(imports='nowhere:keep'))"
    query = "contextkit_query = hookimpl(lambda request: [])"
    install("broken", f"from contextkit import SourceInfo, hookimpl\n{broken}\n{query}\n")
    write(projects, "s1", lines_of("s1", contextkit.folder))
    assert contextkit.json(*IMPORT)["events"] == 4


def test_one_bad_transcript_does_not_stop_the_others(
    contextkit: CommandLine, install: Callable[..., str], tmp_path: Path
) -> None:
    """The reason is counted."""
    install("parrot", PARROT.replace("NAME", "parrot"))
    good = json.dumps({"said": "Which tides are high?", "in": str(contextkit.folder)})
    write(tmp_path / "parrot", "bad", f'{good}\n{{"said": 1}}\n')
    write(tmp_path / "parrot", "good", f"{good}\n")
    done = contextkit.json("import", "parrot", "--from", str(tmp_path / "parrot"))
    assert done["sessions"] == 1
    assert done["skipped"] == {"session that cannot be read (KeyError: 'in')": 1}


def test_two_importers_of_one_name_are_refused(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """Both plugins are named."""
    install("parrot", PARROT.replace("NAME", "codex"))
    assert "'codex' is offered by agents and by parrot" in contextkit.line(1, "import")


def test_a_name_that_is_no_importer_and_no_file(contextkit: CommandLine) -> None:
    """The error lists the importers; their options are refused for a file."""
    told = contextkit("import", "cursor")
    assert told.exit_code == 2
    assert "claude-code, codex" in told.stderr
    assert "--since" in contextkit("import", "records.jsonl", "--since", "7d").stderr


def test_sessions_need_a_source_that_keeps_them(contextkit: CommandLine, projects: Path) -> None:
    """Where events are off, nothing is read."""
    off = contextkit.with_variables(CONTEXTKIT_SOURCES_EVENTS_ENABLED="no")
    assert "no source that is on keeps past sessions" in off.line(1, *IMPORT)
