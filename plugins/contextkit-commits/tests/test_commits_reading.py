"""What is read of a commit, whatever is in it and whatever git is configured to do."""

from __future__ import annotations

import os
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit.errors import WorkspaceError
from contextkit.workspace.git import Git
from contextkit_commits.history import CommitReader, reachable
from contextkit_commits.log_parser import (
    MAX_FILES,
    MAX_TOKEN,
    Commit,
    parse_log,
    split_tokens,
)
from contextkit_commits.repository import Repository, find_repository

SHA = b"a" * 40
SIGNATURE = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n"


def read(path: Path) -> list[Commit]:
    """Every commit of a repository, newest first."""
    repository = find_repository(Git(path))
    assert isinstance(repository, Repository)
    return list(CommitReader(repository).read(reachable(repository, 0).shas))


def test_a_commit_has_its_author_times_message_and_files(repo: Any) -> None:
    """Sha, author, address, both times, message, paths and line counts are read."""
    repo.commit("first", a_dot_txt="one\ntwo\n")
    repo.write(a_dot_txt="one\n2\nthree\n", b_dot_txt="new\n")
    repo.git(
        "commit",
        "-qm",
        "second\n\nWith a body.",
        GIT_AUTHOR_DATE="1600000000 +0200",
        GIT_COMMITTER_DATE="1700009999 +0000",
    )
    second, first = read(repo.path)
    assert second == Commit(
        sha=repo.head,
        parents=1,
        author="Ada",
        email="ada@example.org",
        authored_at=1_600_000_000,
        committed_at=1_700_009_999,
        message="second\n\nWith a body.",
        files=["a.txt", "b.txt"],
        file_count=2,
        insertions=3,
        deletions=1,
    )
    assert (first.parents, first.files, first.insertions) == (0, ["a.txt"], 2)


def test_a_rename_has_its_new_path_and_notes_the_old_one(repo: Any) -> None:
    """A renamed file counts once, under its new path."""
    repo.commit("first", old_dot_txt="one\ntwo\nthree\n")
    repo.git("mv", "old.txt", "new.txt")
    repo.commit("rename")
    renamed = read(repo.path)[0]
    assert renamed.files == ["new.txt"]
    assert renamed.renamed == {"new.txt": "old.txt"}
    assert renamed.file_count == 1


def test_a_binary_file_is_listed_and_has_no_lines(repo: Any) -> None:
    """Git counts no lines of a binary file; it is a changed file all the same."""
    repo.commit("picture", picture_dot_png=b"\x89PNG\0\1\2", text_dot_txt="a\n")
    (commit,) = read(repo.path)
    assert commit.files == ["picture.png", "text.txt"]
    assert (commit.insertions, commit.deletions) == (1, 0)


def test_a_merge_has_what_it_brought_to_its_first_parent(repo: Any) -> None:
    """A merge of three branches is one commit with the files of both others."""
    repo.commit("base", base_dot_txt="a\n")
    for name in ("one", "two"):
        repo.git("checkout", "-qb", name, "main")
        repo.commit(name, **{name: "a\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", main_dot_txt="a\n")
    repo.git("merge", "-q", "-m", "octopus", "one", "two")
    (merge,) = (commit for commit in read(repo.path) if commit.message == "octopus")
    assert (merge.parents, merge.files, merge.insertions) == (3, ["one", "two"], 2)


def test_commits_without_message_or_files_do_not_shift_the_others(repo: Any) -> None:
    """An empty message and an empty change leave their neighbours as they are."""
    repo.commit("first", a="1\n")
    repo.commit("")
    repo.commit("nothing changed")
    repo.commit("", b="1\n")
    assert [(commit.message, commit.files) for commit in read(repo.path)] == [
        ("", ["b"]),
        ("nothing changed", []),
        ("", []),
        ("first", ["a"]),
    ]


@pytest.mark.parametrize(
    ("author", "rest", "expected"),
    [
        (b"Andr\xe9", b"\ncaf\xe9 \xff", ("Andr\ufffd", "caf\ufffd \ufffd")),
        (b"A", b"encoding ISO-8859-1\n\ncaf\xe9", ("A", "café")),
        (b"A", SIGNATURE + b"\nsigned", ("A", "signed")),
    ],
    ids=["unknown", "declared", "signed"],
)
def test_headers_and_bytes_of_a_commit_become_text(
    repo: Any, author: bytes, rest: bytes, expected: tuple[str, str]
) -> None:
    """Bytes that are not UTF-8 become U+FFFD; an encoding counts, a signature does not."""
    repo.commit("first")
    who = b"%s <a@b> 1700000100 +0000\n" % author
    repo.commit_object(b"author " + who + b"committer " + who + rest + b"\n")
    commit = read(repo.path)[0]
    assert (commit.author, commit.message) == expected


def test_a_path_that_is_not_utf8_has_the_numbers_of_its_bytes(repo: Any) -> None:
    """As the code source shows it."""
    repo.commit("first")
    stream = (
        b"commit refs/heads/main\ncommitter A <a@b> 1700000200 +0000\ndata 4\npath"
        b'\nfrom refs/heads/main^0\nM 100644 inline "caf\\351.txt"\ndata 2\na\n\n'
    )
    repo.git("fast-import", "--quiet", "--force", given=stream)
    assert read(repo.path)[0].files == ["caf\\xe9.txt"]


FORGED = f"1\t1\tforged.txt\n\n{'b' * 40}\n2\t2\tforged.txt"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (FORGED, FORGED),
        (
            "title\r\n\r\n\r\n\r\n\x1b[31mred\x07\u2028next\x0b  \n\n",
            "title\n\n[31mred\nnext",
        ),
    ],
    ids=["like a log", "controls and line ends"],
)
def test_a_message_is_text_and_no_log(repo: Any, message: str, expected: str) -> None:
    """It cannot pass for files or for a commit; its line ends and controls are made safe."""
    repo.commit(message, real_dot_txt="a\n")
    (commit,) = read(repo.path)
    assert (commit.message, commit.files) == (expected, ["real.txt"])


def test_paths_with_spaces_tabs_quotes_and_line_feeds_are_whole(repo: Any) -> None:
    """A path is read as it is, also where git would quote it."""
    names = ['a "b".txt', "line\nfeed", "tab\tin", "with space", "ünï.txt"]
    for name in names:
        repo.write_path(name, "a\n")
    repo.commit("odd names")
    assert sorted(read(repo.path)[0].files) == sorted(names)


def test_a_list_of_files_is_capped_and_counted(repo: Any) -> None:
    """Of a commit with very many files the first are kept and all are counted."""
    for number in range(MAX_FILES + 30):
        (repo.path / f"{number:04}").write_text("a\n")
    repo.commit("import")
    (commit,) = read(repo.path)
    assert (len(commit.files), commit.file_count) == (MAX_FILES, MAX_FILES + 30)
    assert commit.insertions == MAX_FILES + 30


def test_a_long_message_is_cut_at_a_word(repo: Any) -> None:
    """A message of a hundred thousand characters is kept in part."""
    repo.commit("long\n\n" + "word " * 20_000)
    (commit,) = read(repo.path)
    assert len(commit.message) <= 20_000
    assert commit.message.endswith("word…")


def test_a_commit_without_usable_times_is_read(repo: Any) -> None:
    """A time that is no number, or beyond all calendars, costs nothing but itself."""
    repo.commit("first")
    raw = (
        b"tree %s\nauthor A <a@b>\ncommitter A <a@b> 99999999999999999 +0000\n\nodd\n"
        % repo.git("write-tree").encode()
    )
    sha = repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", given=raw)
    repo.git("update-ref", "HEAD", sha)
    assert (read(repo.path)[0].message, read(repo.path)[0].authored_at) == ("odd", 0)


def test_no_configuration_changes_what_is_read(
    repo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither settings nor the environment; the core tests show that they run nothing."""
    repo.commit("base", a="1\n2\n3\n4\n")
    # Two texts whose difference the algorithms count differently.
    repo.commit("before", b="\n".join("dccbbcbb\n"))
    repo.commit("after", b="\n".join("cacadacb\n"))
    repo.git("checkout", "-qb", "side")
    repo.commit("side", s="1\n")
    repo.git("checkout", "-q", "main")
    repo.commit("main", m="1\n")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    repo.git("mv", "a", "moved")
    repo.commit("rename")
    repo.commit_object(
        b"author A <a@b> 1700009100 +0000\ncommitter A <a@b> 1700009100 +0000\n"
        + SIGNATURE
        + b"\nsigned\n"
    )
    repo.git("notes", "add", "-m", "a note", "HEAD")
    expected = read(repo.path)

    (tmp_path / "mailmap").write_text("Someone Else <else@example.org> <ada@example.org>\n")
    for key, value in {
        "color.ui": "always",
        "core.quotePath": "true",
        "diff.algorithm": "patience",
        "diff.ignoreSubmodules": "all",
        "diff.orderFile": str(tmp_path / "missing"),
        "diff.relative": "true",
        "diff.renames": "false",
        "format.pretty": "oneline",
        "i18n.logOutputEncoding": "UTF-16",
        "log.abbrevCommit": "true",
        "log.date": "relative",
        "log.decorate": "full",
        "log.diffMerges": "combined",
        "log.follow": "true",
        "log.mailmap": "true",
        "log.showRoot": "false",
        "log.showSignature": "true",
        "mailmap.file": str(tmp_path / "mailmap"),
        "notes.displayRef": "*",
    }.items():
        repo.git("config", key, value)
    for name, value in {
        "GIT_DIFF_OPTS": "--unified=9",
        "GIT_LITERAL_PATHSPECS": "1",
        "LANGUAGE": "de",
        "LC_ALL": "de_DE.UTF-8",
        "TZ": "Asia/Tokyo",
    }.items():
        monkeypatch.setenv(name, value)

    assert read(repo.path) == expected


def test_a_replaced_commit_is_read_as_it_was_made(repo: Any) -> None:
    """`git replace` is one machine's view of a history, not the history."""
    first = repo.commit("first")
    second = repo.commit("second")
    repo.git("replace", second, first)
    assert [commit.message for commit in read(repo.path)] == ["second", "first"]


def test_a_sha256_repository_is_read(make_repo: Callable[..., Any]) -> None:
    """A sha may have 64 digits."""
    repo = make_repo("sha256", "--object-format=sha256")
    repo.commit("first", a="1\n")
    (commit,) = read(repo.path)
    assert (len(commit.sha), commit.files) == (64, ["a"])


def test_reading_a_long_history_takes_no_memory(long_history: Callable[[int], Any]) -> None:
    """Two megabytes of messages pass through the process, a few of them at a time."""
    repository = find_repository(Git(long_history(4_000).path))
    assert isinstance(repository, Repository)
    shas = reachable(repository, 0).shas
    tracemalloc.start()
    try:
        number = sum(1 for _ in CommitReader(repository).read(shas))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert number == 4_000
    assert most < 1_500_000, most


def test_a_history_that_is_not_read_to_its_end_leaves_no_process(
    long_history: Callable[[int], Any], fake_git: Callable[[str], None], tmp_path: Path
) -> None:
    """Whoever stops early, by an error or by Ctrl-C, leaves no git behind."""
    repo = long_history(2_000)
    repository = find_repository(Git(repo.path))
    assert isinstance(repository, Repository)
    shas = reachable(repository, 0).shas
    fake_git(f'echo $$ > "{tmp_path}/pid"; exec "{shutil.which("git")}" "$@"')
    commits = CommitReader(repository).read(shas)
    assert next(commits).sha == shas[0]
    commits.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_tokens_are_the_same_however_the_stream_is_cut() -> None:
    """Where the pipe's chunks end makes no difference."""
    stream = b"one\0\0three\n\0four\0"
    for size in range(1, len(stream) + 1):
        chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert list(split_tokens(chunks)) == [b"one", b"", b"three\n", b"four"]


def test_a_giant_token_is_kept_in_part() -> None:
    """No single message can take the memory of the process."""
    chunks = [b"x" * (MAX_TOKEN - 3), b"y" * 10, b"z" * 10, b"\0next\0"]
    giant, following = split_tokens(chunks)
    assert MAX_TOKEN <= len(giant) < MAX_TOKEN + 10
    assert following == b"next"


@pytest.mark.parametrize(
    "tokens", [[b"warning: not a log"], [SHA, b"", b"A"], [SHA, *[b""] * 6, b"rubbish"]]
)
def test_what_is_not_a_log_is_an_error(tokens: list[bytes]) -> None:
    """Output that does not parse is refused rather than stored."""
    with pytest.raises(WorkspaceError, match="not a commit"):
        list(parse_log(iter(tokens)))
