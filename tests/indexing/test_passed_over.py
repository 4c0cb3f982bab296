"""What of a workspace is not indexed: links, folders, large and changed files, keys."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit import Record
from contextkit.indexing.files import SkipFileError
from contextkit.indexing.listing import FileListing, is_key_file

if TYPE_CHECKING:
    from tests.indexing.conftest import Lines, Stored


# -- what is passed over --------------------------------------------------------------------


def test_what_is_no_file_to_index_is_passed_over_with_a_reason(
    lines: Lines, workspace: Path
) -> None:
    """In every run; and a file that is not there in silence."""
    (workspace / "good").write_text("one\n")
    (workspace / "link").symlink_to("good")
    (workspace / "folder").mkdir()
    (workspace / "large").write_text("x" * 10_001)
    for _ in range(2):
        listing = lines.listing()
        listing.notes.append("a note")
        listing.add("gone")
        listing.add("inner", "good/inner", listing.look_up("good/inner"))
        listing.add("nul", "\0")
        report = lines.report(listing)
        *others, (path, why) = report.skipped
        assert others == [
            ("folder", "not a regular file"),
            ("large", "10,001 bytes, over max_file_bytes (10,000)"),
            ("link", "a symbolic link"),
        ]
        assert path == "nul"
        assert why.startswith("it cannot be read: ")
        assert report.notes == ["a note"]
    assert lines.made == ["good"]


def test_a_file_that_turns_bad_loses_its_records_and_gets_them_back(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """It counts as removed, then as added; a bad file that goes away counts as nothing."""
    path = workspace / "a"
    path.write_text("one\n")
    lines.index()

    path.write_bytes(b"\xff")
    assert lines.index() == (0, 0, 1, 0)
    assert stored() == {}
    assert lines.report().skipped == [("a", "it is not UTF-8")]
    path.write_text("two\n")
    assert lines.index() == (1, 0, 0, 0)
    assert stored().keys() == {"a:two"}
    path.write_bytes(b"\xff\xff")
    lines.index()
    path.unlink()
    assert lines.index() == (0, 0, 0, 0)


def test_a_file_that_is_skipped_without_a_reason_is_skipped(
    lines: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets one, so that no run takes it for a file with records."""

    def skip(*_: object) -> list[Record]:
        raise SkipFileError

    (workspace / "a").write_text("one\n")
    monkeypatch.setattr(lines, "records_of", skip)
    for _ in range(2):
        report = lines.report()
        assert (report.added, report.skipped) == (0, [("a", "it has no records")])


def test_a_file_that_goes_away_between_listing_and_reading(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """A deleted file is gone; one that cannot be read any more is skipped with a reason."""
    for name in "abc":
        (workspace / name).write_text("one\n")
    lines.index()
    for name in ("a", "b", "new", "new folder"):
        (workspace / name).write_text("another\n")
    listing = lines.listing()
    for name in ("a", "b", "new", "new folder"):
        (workspace / name).unlink()
    (workspace / "b").mkdir()
    (workspace / "new folder").mkdir()

    report = lines.report(listing)

    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 2, 1)
    assert [path for path, _ in report.skipped] == ["b", "new folder"]
    assert stored().keys() == {"c:one"}
    assert lines.index() == (0, 0, 0, 1)


def test_content_and_stamp_of_a_file(lines: Lines, workspace: Path) -> None:
    """The stamp is that of the content that was read."""
    (workspace / "a").write_text("abc")
    listing = lines.listing()
    (file,) = listing.files

    content, stamp = listing.read(file)

    assert (b"abc", file.stamp, 3) == (content, stamp, stamp.size)


def test_reading_a_file_that_changed_since_it_was_listed(
    lines: Lines, workspace: Path, tmp_path: Path
) -> None:
    """Deleted, grown, replaced by a link, a pipe or a folder: an error, and no content."""
    path = workspace / "a"
    path.write_text("abc")
    listing = lines.listing()
    (file,) = listing.files

    path.write_text("x" * 10_001)
    with pytest.raises(OSError, match="it has more than 10,000 bytes"):
        listing.read(file)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        listing.read(file)
    path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("x")
    with pytest.raises(OSError, match=r".+"):
        listing.read(file)
    path.unlink()
    os.mkfifo(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    with pytest.raises(OSError, match="not a regular file"):
        listing.read(file)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=r".+"):
        listing.read(file)


# -- key files ------------------------------------------------------------------------------

KEY_FILES = [
    *(".env", ".env.local", "app/.ENV", ".envrc", "docker/prod.env", "id_rsa"),
    *("home/id_ed25519", "id_rsa_work", "id_rsa.old", "id_ecdsa_sk", "server.pem"),
    *("tls/server.KEY", "a.p12", "a.pfx", "a.jks", "a.keystore", ".netrc", "_netrc", ".npmrc"),
    *(".pypirc", ".git-credentials", "credentials", ".aws/credentials", "credentials.json"),
    *("aws-credentials.ini", ".htpasswd", "secrets.yml", "config/secrets.prod.json"),
    *("client_secret_1.json", "home/.docker/config.json", ".kube/config", ".ssh/known_hosts"),
    ".vault-token",
]
OTHER_FILES = [
    *(".env.example", ".env.sample", ".env.template", "example.env", "id_rsa.pub"),
    *("credentials.py", "secrets.ts", "test_secrets.py", "Secret.java", "docs/secretary.md"),
    *("config.json", "docker/config.json", "kube/config", "environment.py", "key.py"),
    *("keys.md", "my_id_rsa.py", "id_rsakey.py"),
]


@pytest.mark.parametrize("path", KEY_FILES)
def test_a_key_file_is_never_indexed(workspace: Path, path: str) -> None:
    """Whatever a source lists, a file that is named as keys are is skipped with the reason."""
    file = workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("TOKEN=tide")
    listing = FileListing(workspace)
    listing.add(path)
    assert ([], [(path, "it may hold secrets")]) == (listing.files, listing.skipped)


@pytest.mark.parametrize("path", OTHER_FILES)
def test_names_that_only_resemble_key_files_are_indexed(path: str) -> None:
    """Code about secrets is code, a public key is public, and a template has no values."""
    assert not is_key_file(path)
