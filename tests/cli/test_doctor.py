"""`contextkit doctor`: every fault is made for real, and none keeps the rest from being seen."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.cli.checks import Finding, examine, worst

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

PARTS = {
    "cache",
    "contextkit",
    "workspace",
    "project",
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
    assert {each["part"] for each in found} >= PARTS - {
        "cache",
        "index",
        "project",
        "secrets",
        "git",
    }
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


def test_all_is_well(furnished: CommandLine) -> None:
    """Every part is looked at, timed and fine; records and models are told by source."""
    found = findings(furnished)
    assert those(found, "warning") + those(found, "problem") == []
    assert {each["part"] for each in found} == PARTS | {"assembly", "project"}
    assert all(each["milliseconds"] >= 0 for each in found)
    fine = "\n".join(those(found, "ok"))
    assert re.search(r"store: \d+ records of all projects: .*memories 3, code \d+, ", fine)
    assert re.search(r"store: [\d.,]+ \w+ at \S+store, [\d.,]+ GiB free", fine)
    assert re.search(r"models: wordllama-256, 256 dimensions: .*memories, ", fine)
    assert re.search(r"models: keywords only, as configured: .*code", fine)
    assert re.search(r"index: code: last change indexed (less than a|\d+) minutes? ago", fine)
    assert re.search(r"git: on main at [0-9a-f]{7}; nothing changed", fine)
    assert re.search(r"plugins: code \S+ \(contextkit-code\): source", fine)
    assert re.search(r"assembly: every source answers: .*code [\d,]+ ms", fine)


def test_it_is_a_table_with_a_sum(furnished: CommandLine) -> None:
    """One line a finding on a pipe; the last says how it went as a whole."""
    ran = furnished("doctor")
    lines = ran.stdout.splitlines()
    assert (ran.exit_code, ran.stderr) == (0, "")
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


def test_every_layer_is_read_by_itself(furnished: CommandLine, home: Path) -> None:
    """A bad file of one's own hides neither a bad project file nor a bad variable."""
    (home / "config.toml").write_bytes(b"\xff\xfe")
    (furnished.folder / "contextkit.toml").write_text("[assemble]\nlimit = 'x'\n")
    found = findings(furnished.with_variables(CONTEXTKIT_ASEMBLE_LIMIT="3"))
    told = those(found, "problem")
    assert len(told) == 3
    assert "config.toml: cannot be read" in told[0]
    assert "contextkit.toml:2: assemble.limit" in told[1]
    assert "did you mean CONTEXTKIT_ASSEMBLE_LIMIT?" in told[2]
    assert "unset that variable" in told[2]
    assert all(line.startswith("configuration: ") for line in told)
    assert "correct that" in told[1]
    assert "memories 3" in "\n".join(those(found, "ok"))


def test_files_variables_and_flags_that_are_valid(furnished: CommandLine, home: Path) -> None:
    """What is set is counted, and by which file and variable."""
    (home / "config.toml").write_text("[assemble]\nlimit = 3\n")
    (furnished.folder / "contextkit.toml").write_text("[assemble]\nlimit = 3\nstyle = 'xml'\n")
    asked = furnished.with_variables(CONTEXTKIT_ASSEMBLE_LIMIT="4")
    found = findings(asked, "--disable", "values")
    fine = "\n".join(those(found, "ok"))
    assert re.search(r"configuration: \S+config.toml: 1 setting;", fine)
    assert re.search(r"configuration: \S+contextkit.toml: 2 settings;", fine)
    assert "CONTEXTKIT_ASSEMBLE_LIMIT" in fine
    assert "(contextkit-values): off by --disable values" in fine


def test_sources_that_are_not_installed(furnished: CommandLine) -> None:
    """Settings and a flag of theirs are warnings; a list that names one is a problem."""
    file = furnished.folder / "contextkit.toml"
    file.write_text("[assemble]\nsources = ['comit']\n[sources.comits]\nweight = 2\n")
    found = findings(furnished, "--enable", "tides")
    wrong, warned = ("\n".join(those(found, state)) for state in ("problem", "warning"))
    assert f"{file}:2: assemble.sources: Invalid source 'comit'" in wrong
    assert "did you mean 'commits'?" in warned
    assert "'tides', which is not installed" in warned


# -- plugins ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise RuntimeError('no harbour')", "RuntimeError: no harbour"),
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
    furnished: CommandLine, install: Callable[..., str], code: str, expected: str
) -> None:
    """It is named with its distribution and what to do; the others are fine."""
    install("tides", code)
    found = findings(furnished)
    [told] = those(found, "problem")
    assert told.startswith("plugins: source 'tides' of their-tides is broken: ")
    assert expected in told
    assert "`--disable tides`" in told
    assert "memories 3" in "\n".join(those(found, "ok"))


def test_one_plugins_wrong_settings(furnished: CommandLine) -> None:
    """They cost that plugin; the file's line is told."""
    (furnished.folder / "contextkit.toml").write_text("[sources.code]\nmax_bytes = 3\n")
    found = findings(furnished)
    [told] = those(found, "problem")
    assert "contextkit.toml:2: sources.code.max_bytes: the source code has no such setting" in told
    fine = "\n".join(those(found, "ok"))
    assert "of sources that are off or not installed" in fine
    assert "commits 2" in fine


def test_two_distributions_of_one_name(furnished: CommandLine, install: Callable[..., str]) -> None:
    """Both are named, and the rest is looked at."""
    install("tides", FEW_HOOKS, "their-tides")
    install("tides", FEW_HOOKS, "other-tides")
    [told] = those(findings(furnished), "problem")
    assert "'tides' is provided by other-tides and by their-tides: uninstall one" in told


def test_hooks_that_fail(furnished: CommandLine, install: Callable[..., str]) -> None:
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
    found = findings(furnished)
    told = "\n".join(those(found, "warning"))
    assert "tides fails in contextkit_weight" in told
    assert "tides fails in contextkit_commands: KeyError: 'low water'" in told
    assert "tides fails in contextkit_tools" in told
    assert "assembly: tides: contextkit_query: OSError: no harbour" in told
    assert those(found, "problem") == []


def test_what_plugins_report_of_themselves(
    furnished: CommandLine, install: Callable[..., str]
) -> None:
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
    found = findings(furnished)
    assert "tides: 3 memory; None" in those(found, "ok")
    assert "tides: the harbour is slow; ask another one" in those(found, "warning")
    assert those(found, "problem") == [
        "moons: contextkit_health failed: HealthFinding: state is 'bad', expected one of ok, "
        "warning, problem; tell the author of moons",
        "winds: contextkit_health failed: OSError: no air; tell the author of winds",
    ]


def test_two_plugins_with_one_tool(furnished: CommandLine, install: Callable[..., str]) -> None:
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
    [told] = those(findings(furnished), "problem")
    assert "the tool 'look' is offered by" in told
    assert "their-tides" in told
    assert "their-winds" in told


def test_a_check_that_ends_in_a_panic(contextkit: CommandLine, install: Callable[..., str]) -> None:
    """What is raised beyond all that is caught elsewhere is a finding; an interrupt is not."""
    install(
        "tides",
        """
        import os, signal
        from contextkit import hookimpl

        # Background processes ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        class Panic(BaseException):
            pass

        @hookimpl
        def contextkit_embedder(model):
            if "CONTEXTKIT_TEST_INTERRUPT" in os.environ:
                os.kill(os.getpid(), signal.SIGINT)
            raise Panic("ebb")
        """,
    )
    asked = contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="tide:high")
    found = findings(asked)
    assert any("Panic: ebb" in line for line in those(found, "problem"))
    interrupted = asked.with_variables(CONTEXTKIT_TEST_INTERRUPT="1")("doctor")
    assert (interrupted.exit_code, interrupted.stdout) == (130, "")


def test_when_it_was_indexed(furnished: CommandLine, home: Path) -> None:
    """The age of the last index run that found something, in words."""
    [state] = (home / "state").rglob("code.json")
    for seconds, words in ((90, "1 minute ago"), (7500, "2 hours ago"), (200_000, "2 days ago")):
        at = time.time() - seconds
        os.utime(state, (at, at))
        told = "\n".join(those(findings(furnished), "ok"))
        assert f"code: last change indexed {words}" in told
        os.utime(state)


def test_no_source_is_on(furnished: CommandLine) -> None:
    """Nothing would ever be found: a warning says where to look."""
    off = "[sources]\n" + "".join(
        f"{name} = {{ enabled = false }}\n" for name in furnished.source_names()
    )
    (furnished.folder / "contextkit.toml").write_text(off)
    assert (
        "plugins: no source is on; run `contextkit sources`"
        in those(findings(furnished), "warning")[0]
    )


def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    """A host is told as well; what needs no workspace is looked at."""
    found = list(examine(tmp_path / "gone"))
    assert [each.part for each in found if each.state == "problem"] == ["workspace"]
    assert "git" not in {each.part for each in found}
    assert "models" in {each.part for each in found}


def test_a_bare_installation(furnished: CommandLine, tmp_path: Path) -> None:
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
    ran = furnished.process("doctor", command=[sys.executable, "-S", "-c", code])
    assert ran.returncode == 1, ran.stderr
    assert re.search(rb"problem +plugins +[\d,]+ +no source is installed", ran.stdout), ran.stdout
