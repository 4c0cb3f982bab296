"""Settings written to the user's file by `contextkit config set` and `unset`."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.config.load import user_config_file
from contextkit.config.write import write_user_setting
from contextkit.errors import ConfigError

FILE = """\
# mine
project = "dotfiles"  # the name

[assemble]
max_tokens = 2000 # enough
sources = [
  "code", # first
  "commits",
]  # no others

[ sources . my_source ]
enabled = true
"""


def written(before: str, key: str, value: object) -> str:
    """The user's file after a change."""
    file = user_config_file()
    file.write_text(before, encoding="utf-8")
    write_user_setting(key, value)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("project", "other", 'project = "dotfiles"  #', 'project = "other"  #'),
        ("assemble.max_tokens", 4000, "= 2000 #", "= 4000 #"),
        (
            "assemble.sources",
            ["code"],
            '[\n  "code", # first\n  "commits",\n]  # no others',
            '["code"]  # no others',
        ),
        ("sources.my-source.enabled", False, "enabled = true", "enabled = false"),
        ("assemble.style", "xml", "[assemble]\n", '[assemble]\nstyle = "xml"\n'),
        ("assemble.max_tokens", None, "max_tokens = 2000 # enough\n", ""),
        ("cache.enabled", True, "enabled = true\n", "enabled = true\n\n[cache]\nenabled = true\n"),
        ("hooks.enabled", None, "", ""),
    ],
)
def test_one_setting_changes_and_the_rest_stays(
    key: str, value: object, old: str, new: str
) -> None:
    """Comments, order and spelling are kept, also beside the value."""
    assert written(FILE, key, value) == FILE.replace(old, new, 1)


def test_the_ends_of_lines_are_kept() -> None:
    """As an editor of Windows wrote them."""
    file = user_config_file()
    file.write_bytes(FILE.replace("\n", "\r\n").encode())
    write_user_setting("assemble.max_tokens", 4000)
    changed = FILE.replace("= 2000 #", "= 4000 #")
    assert file.read_bytes() == changed.replace("\n", "\r\n").encode()


def test_a_missing_file_is_made_private() -> None:
    """The first setting makes the file, which only its user can read."""
    file = user_config_file()
    file.unlink()

    write_user_setting("assemble.max_tokens", 3000)

    assert file.read_text(encoding="utf-8") == "[assemble]\nmax_tokens = 3000\n"
    assert file.stat().st_mode & 0o077 == 0


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """A file that is kept elsewhere, as in a repository of dotfiles, is changed there."""
    kept, file = tmp_path / "kept.toml", user_config_file()
    kept.write_text("", encoding="utf-8")
    file.unlink()
    file.symlink_to(kept)

    write_user_setting("assemble.limit", 5)

    assert file.is_symlink()
    assert kept.read_text(encoding="utf-8") == "[assemble]\nlimit = 5\n"


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("assemble = {limit = 3}\n", "edit it by hand"),
        ("assemble.limit = 3\n[cache]\n", None),
        ('project = """\n[assemble]\n"""\n', "edit it by hand"),
        ("[assemble]\nlimit =\n", "not valid TOML"),
    ],
)
def test_a_form_that_cannot_be_changed_is_refused(before: str, words: str | None) -> None:
    """The file then stays as it is; a dotted key is a form that can be changed."""
    if words is None:
        assert written(before, "assemble.limit", 5) == before.replace("3", "5")
        return
    with pytest.raises(ConfigError, match=words):
        written(before, "assemble.limit", 5)
    assert user_config_file().read_text(encoding="utf-8") == before
