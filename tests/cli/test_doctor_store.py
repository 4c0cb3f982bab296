"""`contextkit doctor` on stores, models and repositories that are damaged or missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit import ContextKit, Record
from tests.cli.test_doctor import findings, findings_of, those
from tests.secret_kinds import planted

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository


# -- the store --------------------------------------------------------------------------------


def test_a_corrupt_store(furnished: CommandLine, home: Path) -> None:
    """It does not open: what to do is told, and nothing of it is changed."""
    meta = home / "store" / "shard" / "meta.json"
    meta.write_text("{")
    found = findings(furnished)
    [told] = those(found, "problem")
    assert told.startswith("store: the store at ")
    assert "contextkit import" in told
    assert meta.read_text() == "{"
    assert {"models", "git"} <= {each["part"] for each in found if each["state"] == "ok"}


def test_a_damaged_record(furnished: CommandLine, home: Path) -> None:
    """It is named by a deep look alone; an export has all the others, and says so."""
    furnished("remember", "Zebras are told from horses")
    sound = findings_of(furnished("doctor", "--deep", "--json"))
    assert any("records are intact" in line for line in those(sound, "ok"))
    [file] = (home / "store/shard/segments").glob("*/payload_storage/page_0.dat")
    content = bytearray(file.read_bytes())
    content[content.index(b"Zebras")] ^= 1
    file.write_bytes(content)
    assert not those(findings(furnished), "problem")
    ran = furnished("doctor", "--deep", "--json")
    assert ran.exit_code == 1
    [told] = those(findings_of(ran), "problem")
    assert re.match(r"store: damaged: memories record 'mem_\w+'; `contextkit import`", told)
    exported = furnished("export")
    assert exported.exit_code == 4
    assert "Zebras" not in exported.stdout
    assert re.search(r"damaged in the store: memories record 'mem_\w+'", exported.stderr)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_others_may_read_and_cannot_be_mended(furnished: CommandLine, home: Path) -> None:
    """Folders that others enter and files that are not the user's are told, and left alone."""
    furnished("remember", "Tabs")
    (home / "history.sqlite").touch(mode=0o644)
    os.chown(home / "history.sqlite", 65534, 65534)
    assert not any("other users" in line for line in those(findings(furnished), "warning"))
    home.chmod(0o2755)
    told = those(findings(furnished), "warning")
    assert any("other users have rights to 1 files and folders" in line for line in told)
    os.chown(home / "store", 65534, 65534)
    told = those(findings(furnished), "warning")
    assert any(f"{home / 'store'} belongs to the user 65534" in line for line in told)


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


def test_a_home_that_one_may_only_read(furnished: CommandLine, home: Path) -> None:
    """It is searched and exported, writing says what is missing, and the doctor warns."""
    powerless = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if powerless and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    furnished("remember", "Zebras are told from horses")
    there = [home, *home.rglob("*")]
    for each in there:
        each.chmod(0o500 if each.is_dir() else 0o400)

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return furnished.process(*arguments, command=[*powerless, *furnished.command()])

    assembled, exported = run("assemble", "what are zebras told from?"), run("export")
    stored, looked = run("remember", "Lions"), run("doctor")
    for each in there:
        each.chmod(0o700 if each.is_dir() else 0o600)
    assert (assembled.returncode, exported.returncode) == (0, 0), assembled.stderr
    assert b"not indexed: cannot write the index state" in assembled.stderr
    assert b"Zebras" in assembled.stdout
    assert b"Zebras" in exported.stdout
    assert stored.returncode == 4
    assert b"is read-only" in stored.stderr
    assert looked.returncode == 0, looked.stdout
    assert re.search(rb"warning +store .*cannot be written to: Permission denied", looked.stdout)


# -- models -----------------------------------------------------------------------------------


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


def test_no_git_and_no_repository(elsewhere: Callable[..., CommandLine], tmp_path: Path) -> None:
    """Without a repository git is not missed much."""
    (tmp_path / "bin").mkdir()
    alone = elsewhere(tmp_path, {"PATH": str(tmp_path / "bin")})
    found = findings(alone)
    assert any(line.startswith("git: git is not on") for line in those(found, "warning"))
    assert those(found, "problem") == []
    with_git = findings(elsewhere(tmp_path))
    assert "is not a repository: there are no commits to index" in "\n".join(those(with_git, "ok"))


def test_a_folder_without_git_is_indexed_all_the_same(
    elsewhere: Callable[..., CommandLine], tmp_path: Path
) -> None:
    """After an index run the doctor does not ask for another one."""
    plain = elsewhere(tmp_path)
    assert plain("index").exit_code == 0
    assert "has not been indexed" not in "\n".join(those(findings(plain), "warning"))


def test_the_state_of_the_work_tree(
    contextkit: CommandLine, repository: Repository, new_repository: Callable[..., Repository]
) -> None:
    """Changed files are counted; a repository may have no commit yet."""
    (repository.folder / "new.py").write_text("x = 1\n")
    assert "; 1 changed files" in "\n".join(those(findings(contextkit), "ok"))
    contextkit.folder = new_repository("bare-of-commits").folder
    assert "git: no commit yet; nothing changed" in "\n".join(those(findings(contextkit), "ok"))


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("CONTEXTKIT_EMBEDDING_MODEL", "none", "contextkit reembed"),
        ("CONTEXTKIT_EMBEDDING_MODEL", "tide:high", "no enabled plugin has the embedding model"),
        ("CONTEXTKIT_SOURCES_MEMORIES_EMBEDDER", "tide:high", "'tide:high'"),
        ("CONTEXTKIT_STORE_PATH", "{file}", "store: {file} cannot be written to: Not a directory"),
        ("CONTEXTKIT_STORE_URL", "http://127.0.0.1:9", "store: the store at http://127.0.0.1:9"),
        ("CONTEXTKIT_STORE_URL", "nonsense://", "store: "),
        ("CONTEXTKIT_HOME", "/proc/1/home", "cannot be written to"),
        ("PATH", "{file}", "git: git is not on the PATH; install git, or put it on the PATH"),
    ],
)
def test_a_variable_that_cannot_be_met(
    furnished: CommandLine, tmp_path: Path, variable: str, value: str, told: str
) -> None:
    """Another model, a place that is none, no git: a problem, and the rest is looked at."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    found = findings(furnished.with_variables(**{variable: value.format(file=file)}))
    assert any(told.format(file=file) in line for line in those(found, "problem"))
    assert any(line.startswith("plugins: ") for line in those(found, "ok"))


def damaged(repository: Repository) -> Path:
    """One that git does not take for a repository."""
    (repository.folder / ".git" / "HEAD").write_text("nonsense\n")
    return repository.folder


def lacking_a_commit(repository: Repository) -> Path:
    """One whose history ends in the middle."""
    repository.commit("Second", {"b.py": "b = 1\n"})
    first = repository.git("rev-parse", "HEAD~1").strip()
    (repository.folder / ".git/objects" / first[:2] / first[2:]).unlink()
    return repository.folder


def clone(option: str) -> Callable[[Repository], Path]:
    """One that has not all that is on its server."""

    def made(repository: Repository) -> Path:
        repository.git("config", "uploadpack.allowFilter", "true")
        repository.git("clone", "-q", option, f"file://{repository.folder}", "../clone")
        return repository.folder.with_name("clone")

    return made


@pytest.mark.parametrize(
    ("make", "state", "told"),
    [
        (damaged, "problem", "git: not a git repository"),
        (lacking_a_commit, "warning", "git: the history is incomplete: "),
        (clone("--filter=blob:none"), "warning", "; run `git fetch --refetch --no-filter`"),
        (clone("--depth=1"), "warning", "older history is missing; run `git fetch --unshallow`"),
    ],
)
def test_a_repository_that_is_not_whole(
    contextkit: CommandLine,
    repository: Repository,
    make: Callable[[Repository], Path],
    state: str,
    told: str,
) -> None:
    """What git says of it, and the command that gets what is missing."""
    contextkit.folder = make(repository)
    assert told in "\n".join(those(findings(contextkit), state))


def test_secrets_of_earlier_versions_are_counted_and_cleaned(furnished: CommandLine) -> None:
    """What people wrote is searched; writing the store anew leaves none, but what they kept."""
    secret = planted("GitHub personal token", "doctor").value
    with ContextKit.open(
        furnished.folder, settings={"project": "demo", "redact.enabled": False}
    ) as kit:
        kit.records("memories").put([Record(id="mem_old", text=f"push with {secret}")])
        kit.records("memories").put(
            [Record(id="mem_kept", text=secret, fields={"keep_secret": True})]
        )
    assert [line for line in those(findings(furnished), "warning") if "secret" in line] == [
        "secrets: memories: 1 secrets in records stored by an earlier version; "
        "run `contextkit reembed`, which removes them"
    ]
    assert furnished.json("reembed")["redacted"] == 1
    found = findings(furnished)
    assert not [line for line in those(found, "warning") if "secret" in line]
    told = "secrets: 1 records have replaced secrets, 1 keep theirs, as the user wants; None"
    assert told in those(found, "ok")
    with ContextKit.open(furnished.folder, settings={"project": "demo"}) as kit:
        [old] = kit.records("memories").get("mem_old")
        assert old.text == "push with [secret: GitHub token]"


def test_a_switched_off_redaction_is_told(furnished: CommandLine) -> None:
    """Nothing is searched then."""
    off = furnished.with_variables(CONTEXTKIT_REDACT_ENABLED="false")
    warned = those(findings(off), "warning")
    assert "secrets: secrets are not replaced; set redact.enabled = true" in warned
