"""`contextkit doctor`: every fault is made for real, and none keeps the rest from being seen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit import ContextKit, Record
from contextkit.cli.checks import Finding, examine, worst
from tests.secret_kinds import planted

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

PARTS = {
    "cache",
    "contextkit",
    "workspace",
    "configuration",
    "plugins",
    "store",
    "models",
    "index",
    "secrets",
    "git",
}
FEW_HOOKS = """
    from contextkit import hookimpl

    @hookimpl
    def contextkit_query(request):
        return []
    """


def findings(contextkit: CommandLine, *options: str) -> list[dict[str, Any]]:
    """What the doctor finds, whatever its exit code says, which must fit."""
    ran = contextkit(*options, "doctor", "--json")
    assert ran.stderr == ""
    data = json.loads(ran.stdout)
    found: list[dict[str, Any]] = data["findings"]
    assert data["state"] == worst([Finding(**each) for each in found])
    assert ran.exit_code == (1 if data["state"] == "problem" else 0)
    assert {each["part"] for each in found} >= PARTS - {"cache", "index", "secrets", "git"}
    return found


def findings_of(ran: Any) -> list[dict[str, Any]]:
    """What a run of the doctor found."""
    found: list[dict[str, Any]] = json.loads(ran.stdout)["findings"]
    return found


def those(found: list[dict[str, Any]], state: str) -> list[str]:
    """The findings of a state, each on one line with its remedy."""
    return [
        f"{each['part']}: {each['text']}; {each['remedy']}"
        for each in found
        if each["state"] == state
    ]


@pytest.fixture
def well(contextkit: CommandLine) -> CommandLine:
    """The command line where all is well."""
    contextkit("index")
    contextkit("remember", "Tabs, never spaces")
    return contextkit


def test_all_is_well(well: CommandLine) -> None:
    """Every part is looked at, timed and fine; records and models are told by source."""
    found = findings(well)
    assert those(found, "warning") + those(found, "problem") == []
    assert {each["part"] for each in found} == PARTS | {"assembly", "project"}
    assert all(each["milliseconds"] >= 0 for each in found)
    fine = "\n".join(those(found, "ok"))
    assert re.search(r"store: \d+ records of all projects: .*memories 1, code \d+, ", fine)
    assert re.search(r"store: [\d.,]+ \w+ at \S+store, [\d.,]+ GiB free", fine)
    assert re.search(r"models: wordllama-256, 256 dimensions: .*memories, ", fine)
    assert re.search(r"models: keywords only, as configured: .*code", fine)
    assert "index: code: last change indexed less than a minute ago" in fine
    assert re.search(r"git: on main at [0-9a-f]{7}; nothing changed", fine)
    assert re.search(r"plugins: code \S+ \(contextkit-code\): source", fine)
    assert re.search(r"assembly: every source answers: .*code [\d,]+ ms", fine)


def test_it_is_a_table_with_a_sum(well: CommandLine) -> None:
    """One line a finding on a pipe; the last says how it went as a whole."""
    ran = well.process("doctor")
    lines = ran.stdout.decode().splitlines()
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert re.match(r"STATE +PART +MS", lines[0])
    assert all(line.startswith("ok  ") for line in lines[1:-2])
    assert re.fullmatch(r"all is well; [\d,]+ ms", lines[-1])


def test_it_is_coloured_on_a_terminal(contextkit: CommandLine) -> None:
    """The states have colours there, unless nobody wants any."""
    (contextkit.folder / "contextkit.toml").write_text("[assemble]\nlimit = 0\n")
    code, _, shown = contextkit.on_terminal("doctor", stdout=True, columns=120)
    assert code == 1
    assert b"\x1b[32m\x1b[1mok\x1b[0m " in shown
    assert b"\x1b[31m\x1b[1mproblem\x1b[0m " in shown
    plain = contextkit.with_variables(NO_COLOR="1")
    assert b"\x1b" not in plain.on_terminal("doctor", stdout=True)[2]


def test_looking_changes_nothing(contextkit: CommandLine, home: Path) -> None:
    """Where there is no store yet none is made, and that is no fault."""
    found = findings(contextkit)
    assert [path.name for path in home.iterdir()] == ["config.toml"]
    assert "store: none yet; it will be created at" in "\n".join(those(found, "ok"))
    warned = those(found, "warning")
    assert len(warned) >= 2
    assert all("has not been indexed; run `contextkit index`" in line for line in warned)
    assert those(found, "problem") == []
    assert (contextkit.folder / ".git" / "index").exists()


# -- configuration ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[assemble\n", "contextkit.toml:1: not valid TOML"),
        ("[assemble]\nmax_tokns = 3\n", "contextkit.toml:2: assemble.max_tokns: unknown setting"),
        ("[store]\npath = 'x'\n", "this setting is yours alone"),
        ("assemble = 3\n", "assemble: expected a table"),
    ],
)
def test_a_bad_project_file(well: CommandLine, text: str, expected: str) -> None:
    """Its error is told with its line, and the store of one's own is looked at all the same."""
    (well.folder / "contextkit.toml").write_text(text)
    found = findings(well)
    [told] = those(found, "problem")
    assert told.startswith("configuration: ")
    assert expected in told
    assert "correct that" in told
    assert "memories 1" in "\n".join(those(found, "ok"))


def test_every_layer_is_read_by_itself(well: CommandLine, home: Path) -> None:
    """A bad file of one's own hides neither a bad project file nor a bad variable."""
    (home / "config.toml").write_bytes(b"\xff\xfe")
    (well.folder / "contextkit.toml").write_text("[assemble]\nlimit = 'x'\n")
    found = findings(well.with_variables(CONTEXTKIT_ASEMBLE_LIMIT="3"))
    told = those(found, "problem")
    assert len(told) == 3
    assert "config.toml: cannot be read" in told[0]
    assert "contextkit.toml:2: assemble.limit" in told[1]
    assert "did you mean CONTEXTKIT_ASSEMBLE_LIMIT?" in told[2]
    assert "unset that variable" in told[2]


def test_files_variables_and_flags_that_are_valid(well: CommandLine, home: Path) -> None:
    """What is set is counted, and by which file and variable."""
    (home / "config.toml").write_text("[assemble]\nlimit = 3\n")
    (well.folder / "contextkit.toml").write_text("[assemble]\nlimit = 3\nstyle = 'xml'\n")
    asked = well.with_variables(CONTEXTKIT_ASSEMBLE_LIMIT="4")
    found = findings(asked, "--disable", "values")
    fine = "\n".join(those(found, "ok"))
    assert re.search(r"configuration: \S+config.toml: 1 setting;", fine)
    assert re.search(r"configuration: \S+contextkit.toml: 2 settings;", fine)
    assert "CONTEXTKIT_ASSEMBLE_LIMIT" in fine
    assert "(contextkit-values): off by --disable values" in fine


def test_a_flag_for_a_source_that_is_not_there(well: CommandLine) -> None:
    """It is a warning here, where the other commands refuse it."""
    assert (
        "'tides', which is not installed"
        in those(findings(well, "--enable", "tides"), "warning")[0]
    )


def test_settings_of_a_source_that_is_not_installed(well: CommandLine) -> None:
    """Most are misspelt: the nearest name is told."""
    (well.folder / "contextkit.toml").write_text("[sources.comits]\nweight = 2\n")
    [told] = those(findings(well), "warning")
    assert "did you mean 'commits'?" in told


# -- plugins ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise RuntimeError('no harbour')", "RuntimeError: no harbour"),
        ("import no_such_library", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_qury(request): ...",
            "did you mean 'contextkit_query'?",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(reqest): ...",
            "reqest",
        ),
    ],
)
def test_a_broken_plugin(
    well: CommandLine, install: Callable[..., str], code: str, expected: str
) -> None:
    """It is named with its distribution and what to do; the others are fine."""
    install("tides", code)
    found = findings(well)
    [told] = those(found, "problem")
    assert told.startswith("plugins: source 'tides' of their-tides is broken: ")
    assert expected in told
    assert "`--disable tides`" in told
    assert "memories 1" in "\n".join(those(found, "ok"))


def test_one_plugins_wrong_settings(well: CommandLine) -> None:
    """They cost that plugin; the file's line is told."""
    (well.folder / "contextkit.toml").write_text("[sources.code]\nmax_bytes = 3\n")
    found = findings(well)
    [told] = those(found, "problem")
    assert "contextkit.toml:2: sources.code.max_bytes: the source code has no such setting" in told
    fine = "\n".join(those(found, "ok"))
    assert "of sources that are off or not installed" in fine
    assert "commits 2" in fine


def test_two_distributions_of_one_name(well: CommandLine, install: Callable[..., str]) -> None:
    """Both are named, and the rest is looked at."""
    install("tides", FEW_HOOKS, "their-tides")
    install("tides", FEW_HOOKS, "other-tides")
    [told] = those(findings(well), "problem")
    assert "'tides' is provided by other-tides and by their-tides: uninstall one" in told


def test_hooks_that_fail(well: CommandLine, install: Callable[..., str]) -> None:
    """A plugin that loads, and fails or lies when it is used, is a warning by hook."""
    install(
        "tides",
        """
        from contextkit import hookimpl

        @hookimpl
        def contextkit_query(request):
            raise OSError("no harbour")

        @hookimpl
        def contextkit_weight(request):
            return "heavy"

        @hookimpl
        def contextkit_commands(cli):
            raise KeyError("low water")

        @hookimpl
        def contextkit_tools():
            return [3]
        """,
    )
    found = findings(well)
    told = "\n".join(those(found, "warning"))
    assert "tides fails in contextkit_weight" in told
    assert "tides fails in contextkit_commands: KeyError: 'low water'" in told
    assert "tides fails in contextkit_tools" in told
    assert "assembly: tides: contextkit_query: OSError: no harbour" in told
    assert those(found, "problem") == []


def test_what_plugins_report_of_themselves(well: CommandLine, install: Callable[..., str]) -> None:
    """`contextkit_health`: each finding is a line under the plugin's name, and so is a failure."""
    install(
        "tides",
        """
        from contextkit import HealthFinding, hookimpl

        @hookimpl
        def contextkit_health(kit):
            count = kit.records("memories").count()
            return [
                HealthFinding("ok", f"{count} memory"),
                HealthFinding("warning", "the harbour is slow", "ask another one"),
            ]
        """,
    )
    install(
        "winds",
        """
        from contextkit import hookimpl

        @hookimpl
        def contextkit_health():
            raise OSError("no air")
        """,
    )
    install(
        "moons",
        """
        from contextkit import HealthFinding, hookimpl

        @hookimpl
        def contextkit_health(kit):
            return [HealthFinding("bad", "no light")]
        """,
    )
    found = findings(well)
    assert "tides: 1 memory; None" in those(found, "ok")
    assert "tides: the harbour is slow; ask another one" in those(found, "warning")
    assert those(found, "problem") == [
        "moons: contextkit_health failed: HealthFinding: state is 'bad', expected one of ok, "
        "warning, problem; tell the author of moons",
        "winds: contextkit_health failed: OSError: no air; tell the author of winds",
    ]


def test_two_plugins_with_one_tool(well: CommandLine, install: Callable[..., str]) -> None:
    """An agent could not tell them apart: both are named."""
    for name in ("tides", "winds"):
        install(
            name,
            """
            from contextkit import Tool, hookimpl

            def look(kit) -> dict[str, int]:
                return {}

            @hookimpl
            def contextkit_tools():
                return [Tool(name="look", description="Look.", run=look)]
            """,
        )
    [told] = those(findings(well), "problem")
    assert "the tool 'look' is offered by" in told
    assert "their-tides" in told
    assert "their-winds" in told


def test_a_check_that_ends_in_a_panic(contextkit: CommandLine, install: Callable[..., str]) -> None:
    """What is raised beyond all that is caught elsewhere is a finding; an interrupt is not."""
    install(
        "tides",
        """
        import importlib.metadata, os
        from contextkit import hookimpl

        class Panic(BaseException):
            pass

        @hookimpl
        def contextkit_embedder(model):
            raise KeyboardInterrupt if "CONTEXTKIT_TEST_INTERRUPT" in os.environ else Panic("ebb")
        """,
    )
    asked = contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="tide:high")
    found = findings(asked)
    assert any("Panic: ebb" in line for line in those(found, "problem"))
    interrupted = asked.with_variables(CONTEXTKIT_TEST_INTERRUPT="1")("doctor")
    assert (interrupted.exit_code, interrupted.stdout) == (130, "")


def test_when_it_was_indexed(well: CommandLine, home: Path) -> None:
    """The age of the last index run that found something, in words."""
    [state] = (home / "state").rglob("code.json")
    for seconds, words in ((90, "1 minute ago"), (7500, "2 hours ago"), (200_000, "2 days ago")):
        at = state.stat().st_mtime - seconds
        os.utime(state, (at, at))
        told = "\n".join(those(findings(well), "ok"))
        assert f"code: last change indexed {words}" in told
        os.utime(state)


def test_no_source_is_on(well: CommandLine) -> None:
    """Nothing would ever be found: a warning says where to look."""
    off = "[sources]\n" + "".join(
        f"{name} = {{ enabled = false }}\n" for name in well.source_names()
    )
    (well.folder / "contextkit.toml").write_text(off)
    assert (
        "plugins: no source is on; run `contextkit sources`" in those(findings(well), "warning")[0]
    )


# -- the store --------------------------------------------------------------------------------


def test_a_corrupt_store(well: CommandLine, home: Path) -> None:
    """It does not open: what to do is told, and nothing of it is changed."""
    meta = home / "store" / "shard" / "meta.json"
    meta.write_text("{")
    found = findings(well)
    [told] = those(found, "problem")
    assert told.startswith("store: the store at ")
    assert "contextkit import" in told
    assert meta.read_text() == "{"
    assert {"models", "git"} <= {each["part"] for each in found if each["state"] == "ok"}


def test_a_damaged_record(well: CommandLine, home: Path) -> None:
    """It is named by a deep look alone; an export has all the others, and says so."""
    well("remember", "Zebras are told from horses")
    [file] = (home / "store/shard/segments").glob("*/payload_storage/page_0.dat")
    content = bytearray(file.read_bytes())
    content[content.index(b"Zebras")] ^= 1
    file.write_bytes(content)
    assert not those(findings(well), "problem")
    ran = well("doctor", "--deep", "--json")
    assert ran.exit_code == 1
    [told] = those(findings_of(ran), "problem")
    assert re.match(r"store: damaged: memories record 'mem_\w+'; `contextkit import`", told)
    exported = well("export")
    assert exported.exit_code == 4
    assert "Zebras" not in exported.stdout
    assert re.search(r"damaged in the store: memories record 'mem_\w+'", exported.stderr)


def test_a_sound_store_read_to_the_bottom(well: CommandLine) -> None:
    """Every record, vector and index fits."""
    well("remember", "Zebras are told from horses")
    found = findings_of(well("doctor", "--deep", "--json"))
    assert any("records are intact" in line for line in those(found, "ok"))
    assert not those(found, "problem")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_others_may_read_and_cannot_be_mended(well: CommandLine, home: Path) -> None:
    """Folders that others enter and files that are not the user's are told, and left alone."""
    well("remember", "Tabs")
    (home / "history.sqlite").touch(mode=0o644)
    os.chown(home / "history.sqlite", 65534, 65534)
    assert not any("other users" in line for line in those(findings(well), "warning"))
    home.chmod(0o2755)
    told = those(findings(well), "warning")
    assert any("other users have rights to 1 files and folders" in line for line in told)
    os.chown(home / "store", 65534, 65534)
    told = those(findings(well), "warning")
    assert any(f"{home / 'store'} belongs to the user 65534" in line for line in told)


def test_a_store_of_another_model(well: CommandLine) -> None:
    """A changed model is a problem with its own remedy."""
    told = those(findings(well.with_variables(CONTEXTKIT_EMBEDDING_MODEL="none")), "problem")
    assert len(told) == 1
    assert "contextkit reembed" in told[0]


def test_a_store_folder_that_is_a_file(well: CommandLine, tmp_path: Path) -> None:
    """What is in its way is told for opening it and for writing to it."""
    file = tmp_path / "store"
    file.write_text("not a folder")
    told = those(findings(well.with_variables(CONTEXTKIT_STORE_PATH=str(file))), "problem")
    assert any(str(file) in line and line.startswith("store: ") for line in told)


def test_a_home_that_cannot_be_made(well: CommandLine) -> None:
    """A folder on a file system that takes no files is told before anything is stored."""
    told = those(findings(well.with_variables(CONTEXTKIT_HOME="/proc/1/home")), "problem")
    assert any("cannot be written to" in line for line in told)


@pytest.mark.parametrize(("size", "state"), [("8m", "problem"), ("256m", "warning")])
def test_little_room(contextkit: CommandLine, tmp_path: Path, size: str, state: str) -> None:
    """Where a write would be refused that is a problem, where it soon might a warning."""
    small = tmp_path / "small"
    small.mkdir()
    asked = contextkit.with_variables(CONTEXTKIT_HOME=str(small))
    ran = asked.process("doctor", command=asked.within(f"mount -t tmpfs -o size={size} x {small}"))
    assert ran.returncode == (1 if state == "problem" else 0)
    assert re.search(
        rf"^{state} +store .* MiB free; free some disk space", ran.stdout.decode(), re.MULTILINE
    )


def test_an_unreadable_folder(well: CommandLine, home: Path) -> None:
    """A store that one may not read is told, and so is the right that is missing."""
    # Nothing is unreadable for root, unless it lays down that power.
    powerless = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if powerless and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    store = home / "store"
    store.chmod(0)
    ran = well.process("doctor", command=[*powerless, *well.command()])
    store.chmod(0o700)
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert re.search(rb"problem +store .*Permission denied", ran.stdout), ran.stdout
    assert re.search(rb"problem +store .*cannot be written to: Permission denied", ran.stdout)


def test_a_home_that_one_may_only_read(well: CommandLine, home: Path) -> None:
    """It is searched and exported, writing says what is missing, and the doctor warns."""
    powerless = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if powerless and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    well("remember", "Zebras are told from horses")
    there = [home, *home.rglob("*")]
    for each in there:
        each.chmod(0o500 if each.is_dir() else 0o400)

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return well.process(*arguments, command=[*powerless, *well.command()])

    assembled, exported = run("assemble", "what are zebras told from?"), run("export")
    stored, looked = run("remember", "Lions"), run("doctor")
    for each in there:
        each.chmod(0o700 if each.is_dir() else 0o600)
    assert (assembled.returncode, exported.returncode) == (0, 0), assembled.stderr
    assert b"not indexed: the store at" in assembled.stderr
    assert b"Zebras" in assembled.stdout
    assert b"Zebras" in exported.stdout
    assert stored.returncode == 4
    assert b"is read-only" in stored.stderr
    assert looked.returncode == 0, looked.stdout
    assert re.search(rb"warning +store .*cannot be written to: Permission denied", looked.stdout)


def test_a_server_that_does_not_answer(well: CommandLine) -> None:
    """The store is elsewhere and away: the rest is looked at."""
    found = findings(well.with_variables(CONTEXTKIT_STORE_URL="http://127.0.0.1:9"))
    [told] = those(found, "problem")
    assert told.startswith("store: ")
    assert "127.0.0.1:9" in told
    assert any(line.startswith("models: wordllama") for line in those(found, "ok"))


def test_an_address_that_is_none(well: CommandLine) -> None:
    """A store that cannot even be tried is one problem, not the end."""
    found = findings(well.with_variables(CONTEXTKIT_STORE_URL="nonsense://"))
    assert any(line.startswith("store: ") for line in those(found, "problem"))
    assert any(line.startswith("models: wordllama") for line in those(found, "ok"))


# -- models -----------------------------------------------------------------------------------


def test_a_model_that_nobody_has(contextkit: CommandLine) -> None:
    """The setting is named that asks for it."""
    found = findings(contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="tide:high"))
    told = those(found, "problem")
    assert any("no enabled plugin has the embedding model 'tide:high'" in line for line in told)


def test_a_sources_model_that_nobody_has(contextkit: CommandLine) -> None:
    """One source's own setting costs no other's model."""
    asked = contextkit.with_variables(CONTEXTKIT_SOURCES_MEMORIES_EMBEDDER="tide:high")
    found = findings(asked)
    assert any("'tide:high'" in line for line in those(found, "problem"))
    assert "models: wordllama-256" in "\n".join(those(found, "ok"))


def test_a_model_that_fails(contextkit: CommandLine, install: Callable[..., str]) -> None:
    """A model that was chosen and gives no vectors is a problem, with the way round it."""
    install(
        "tides",
        """
        from contextkit import hookimpl

        class Model:
            name = "tide:high"
            dimensions = 3

            def embed_records(self, texts):
                raise RuntimeError("ebb")

            def embed_query(self, text):
                raise RuntimeError("ebb")

        @hookimpl
        def contextkit_embedder(model):
            return Model() if model == "tide:high" else None
        """,
    )
    asked = contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="tide:high")
    [told] = those(findings(asked), "problem")
    assert "models: the embedding model 'tide:high' fails (RuntimeError: ebb)" in told
    assert 'embedding.model = "none"' in told


# -- the workspace and git --------------------------------------------------------------------


def test_no_git_on_the_path(well: CommandLine, tmp_path: Path) -> None:
    """In a repository that is a problem; what it would give is told."""
    empty = tmp_path / "bin"
    empty.mkdir()
    found = findings(well.with_variables(PATH=str(empty)))
    assert those(found, "problem") == [
        "git: git is not on the PATH; install git, or put it on the PATH: it reads the history "
        "and the ignored files"
    ]


def test_no_git_and_no_repository(elsewhere: Callable[..., CommandLine], tmp_path: Path) -> None:
    """Without a repository git is not missed much."""
    (tmp_path / "bin").mkdir()
    alone = elsewhere(tmp_path, {"PATH": str(tmp_path / "bin")})
    found = findings(alone)
    assert any(line.startswith("git: git is not on") for line in those(found, "warning"))
    assert those(found, "problem") == []
    with_git = findings(elsewhere(tmp_path))
    assert "is not a repository: there are no commits to index" in "\n".join(those(with_git, "ok"))


def test_the_state_of_the_work_tree(
    contextkit: CommandLine, repository: Repository, new_repository: Callable[..., Repository]
) -> None:
    """Changed files are counted; a repository may have no commit yet."""
    (repository.folder / "new.py").write_text("x = 1\n")
    assert "; 1 changed files" in "\n".join(those(findings(contextkit), "ok"))
    contextkit.folder = new_repository("bare-of-commits").folder
    assert "git: no commit yet; nothing changed" in "\n".join(those(findings(contextkit), "ok"))


def test_a_damaged_repository(contextkit: CommandLine, repository: Repository) -> None:
    """What git itself says of it is passed on."""
    (repository.folder / ".git" / "HEAD").write_text("nonsense\n")
    told = those(findings(contextkit), "problem")
    assert any(line.startswith("git: not a git repository") for line in told)


def test_a_partial_clone(contextkit: CommandLine, repository: Repository, tmp_path: Path) -> None:
    """What it left on its server is a warning with the command that gets it."""
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("clone", "-q", "--filter=blob:none", f"file://{repository.folder}", "../partial")
    contextkit.folder = tmp_path / "partial"
    told = "\n".join(those(findings(contextkit), "warning"))
    assert "git: a partial clone" in told
    assert "run `git fetch --refetch --no-filter`" in told


def test_a_history_with_a_commit_missing(contextkit: CommandLine, repository: Repository) -> None:
    """Git's words for it, and the command that names what else is missing."""
    repository.commit("Second", {"b.py": "b = 1\n"})
    first = repository.git("rev-parse", "HEAD~1").strip()
    (repository.folder / ".git/objects" / first[:2] / first[2:]).unlink()
    told = "\n".join(those(findings(contextkit), "warning"))
    assert "git: the history is incomplete: " in told


def test_a_shallow_clone(contextkit: CommandLine, repository: Repository, tmp_path: Path) -> None:
    """History that is cut off is a warning with the command that gets the rest."""
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", "../shallow")
    contextkit.folder = tmp_path / "shallow"
    told = those(findings(contextkit), "warning")
    assert (
        "git: the clone is shallow: older history is missing; run `git fetch --unshallow`" in told
    )


def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    """A host is told as well; what needs no workspace is looked at."""
    found = list(examine(tmp_path / "gone"))
    assert [each.part for each in found if each.state == "problem"] == ["workspace"]
    assert "git" not in {each.part for each in found}
    assert "models" in {each.part for each in found}


def test_a_bare_installation(well: CommandLine, tmp_path: Path) -> None:
    """The core alone finds nothing: no source is installed."""
    metadata = next(
        path for path in map(Path, sys.path) if any(path.glob("contextkit_core-*.dist-info"))
    )
    only = tmp_path / "site"
    only.mkdir()
    for entry in metadata.iterdir():
        if not re.match(r"(__editable__\.)?_?contextkit_(?!core)", entry.name):
            (only / entry.name).symlink_to(entry)
    code = (
        "import sys; "
        f"sys.path[:] = [{str(Path(__file__).parents[2])!r}, "
        f"*(p for p in sys.path if p != {str(metadata)!r} and 'plugins' not in p), {str(only)!r}]; "
        "from contextkit.cli import main; main()"
    )
    ran = well.process("doctor", command=[sys.executable, "-S", "-c", code])
    assert ran.returncode == 1, ran.stderr
    assert re.search(rb"problem +plugins +[\d,]+ +no source is installed", ran.stdout), ran.stdout


def test_moving_the_store_away_mends_a_corrupt_one(well: CommandLine, home: Path) -> None:
    """What is advised helps."""
    store = home / "store"
    (store / "shard" / "meta.json").write_text("{")
    shutil.move(store, home / "away")
    assert those(findings(well), "problem") == []


def test_secrets_of_earlier_versions_are_counted_and_cleaned(well: CommandLine) -> None:
    """What people wrote is searched; writing the store anew leaves none, but what they kept."""
    secret = planted("GitHub personal token", "doctor").value
    with ContextKit.open(well.folder, settings={"redact.enabled": False}) as kit:
        kit.records("memories").put([Record(id="mem_old", text=f"push with {secret}")])
        kit.records("memories").put(
            [Record(id="mem_kept", text=secret, fields={"keep_secret": True})]
        )
    assert [line for line in those(findings(well), "warning") if "secret" in line] == [
        "secrets: memories: 1 secrets in records stored by an earlier version; "
        "run `contextkit reembed`, which removes them"
    ]
    assert well.json("reembed")["redacted"] == 1
    found = findings(well)
    assert not [line for line in those(found, "warning") if "secret" in line]
    told = "secrets: 1 records have replaced secrets, 1 keep theirs, as the user wants; None"
    assert told in those(found, "ok")
    with ContextKit.open(well.folder) as kit:
        [old] = kit.records("memories").get("mem_old")
        assert old.text == "push with [secret: GitHub token]"


def test_a_switched_off_redaction_is_told(well: CommandLine) -> None:
    """Nothing is searched then."""
    off = well.with_variables(CONTEXTKIT_REDACT_ENABLED="false")
    warned = those(findings(off), "warning")
    assert "secrets: secrets are not replaced; set redact.enabled = true" in warned
