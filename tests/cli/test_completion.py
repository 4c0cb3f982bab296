"""Shell completion, as a real shell asks for it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine


@pytest.fixture
def on_path(contextkit: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line, found by its name."""
    script = tmp_path / "bin" / "contextkit"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m contextkit.cli "$@"\n')
    script.chmod(0o755)
    root = Path(__file__).parents[2]
    return contextkit.with_variables(
        PATH=os.pathsep.join([str(script.parent), os.environ["PATH"]]),
        PYTHONPATH=os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")])),
    )


def shell(contextkit: CommandLine, *command: str) -> str:
    """What a shell prints; nothing may come on standard error."""
    ran = subprocess.run(
        command,
        cwd=contextkit.folder,
        env=contextkit.variables(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode()


def in_bash(contextkit: CommandLine, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = (
        'eval "$(contextkit completion bash)"; '
        'read -ra registered <<< "$(complete -p contextkit)"; '
        f"COMP_WORDS=(contextkit {shlex.join(words)}); COMP_CWORD={len(words)}; "
        '"${registered[-2]}" contextkit; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return shell(contextkit, "bash", "--norc", "-c", script).split("\n")[:-1]


def test_bash_offers(on_path: CommandLine) -> None:
    """Commands, options, and lists of sources, in a real bash."""
    assert in_bash(on_path, "remem") == ["remember"]
    assert in_bash(on_path, "assemble", "--styl") == ["--style"]
    assert in_bash(on_path, "assemble", "x", "--sources", "code,co") == ["code,commits"]
    assert in_bash(on_path, "assemble", "x", "--sources", "zzz") == [""]


def in_process(contextkit: CommandLine, *words: str) -> list[str]:
    """What the program answers to bash."""
    asked = contextkit.with_variables(
        _CONTEXTKIT_COMPLETE="bash_complete",
        COMP_WORDS=shlex.join(["contextkit", *words]),
        COMP_CWORD=str(len(words)),
    )
    result = asked()
    assert result.stderr == ""
    return [line.removeprefix("plain,") for line in result.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("ass",), ["assemble"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("assemble", "x", "--style", ""), ["markdown", "xml", "plain"]),
        (("assemble", "x", "--sources", "co"), ["code", "commits"]),
        (("assemble", "x", "--sources", "tok"), []),
        (("assemble", "x", "--set", "deta"), ["detail="]),
        (("assemble", "x", "--strategy", "bal"), ["balanced"]),
        (("explain", "x", "--sources", "mem"), ["memories"]),
        (("index", "co"), ["code", "commits"]),
        (("index", "commits", "c"), ["code"]),
        (("--disable", "tok"), ["tokenizers"]),
        (("--enable", "code,commits,mem"), ["code,commits,memories"]),
        (("--enable", "commits,com"), []),
    ],
)
def test_it_offers(contextkit: CommandLine, words: tuple[str, ...], offered: list[str]) -> None:
    """Commands, options, their values; sources, each once, and only those that can be asked."""
    assert in_process(contextkit, *words) == offered


def test_fish_offers(on_path: CommandLine, need: Callable[..., None]) -> None:
    """A real fish completes commands and lists of sources."""
    need("fish")
    script = "contextkit completion fish | source; complete -C 'contextkit {}'"
    listed = shell(on_path, "fish", "-N", "-c", script.format("assemble x --sources code,co"))
    assert listed.split() == ["code,commits"]
    assert shell(on_path, "fish", "-N", "-c", script.format("assem")).startswith("assemble")


def test_a_source_that_was_installed_is_offered(
    on_path: CommandLine, install: Callable[..., str]
) -> None:
    """Names come from what is installed, sources that are off included."""
    install(
        "tides", "from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(request): ..."
    )
    there = on_path.with_variables(
        PYTHONPATH=os.pathsep.join([os.environ["PYTHONPATH"], on_path.environment["PYTHONPATH"]])
    )
    (there.folder / "contextkit.toml").write_text("[sources.tides]\nenabled = false\n")
    assert in_bash(there, "assemble", "x", "--sources", "ti") == ["tides"]


def test_a_broken_configuration_disturbs_no_line(on_path: CommandLine) -> None:
    """Nothing is offered, and nothing is printed into what is being typed."""
    (on_path.folder / "contextkit.toml").write_text("[assemble]\nlimit = 0\n")
    assert in_bash(on_path, "assemble", "x", "--sources", "co") == [""]
    assert in_process(on_path, "ass") == ["assemble"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bash", "complete -o nosort"), ("zsh", "#compdef"), ("fish", "complete")],
)
def test_the_script_of_each_shell(contextkit: CommandLine, name: str, expected: str) -> None:
    """Each has its own, for this program; a shell that has it reads it."""
    result = contextkit("completion", name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert expected in result.stdout
    assert f"_CONTEXTKIT_COMPLETE={name}_complete" in result.stdout
    if shutil.which(name):
        ran = subprocess.run(
            [name, "-n"], input=result.stdout.encode(), capture_output=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, b"")


def test_fish_keeps_the_commas_of_a_list(contextkit: CommandLine) -> None:
    """What stands behind the first comma of an answer is all of the value."""
    assert '(string split --max 1 "," $completion)' in contextkit("completion", "fish").stdout
    asked = contextkit.with_variables(
        _CONTEXTKIT_COMPLETE="fish_complete",
        COMP_WORDS="contextkit assemble x --sources code,co",
        COMP_CWORD="code,co",
    )
    assert asked.process().stdout.decode().splitlines() == ["plain,code,commits"]
