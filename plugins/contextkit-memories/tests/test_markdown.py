"""`contextkit memories export` and `import`: Markdown files and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit import Record, Records
from contextkit.testing import CommandLine, command_line, open_records, printed_json
from contextkit_memories import MemoryBook
from contextkit_memories.markdown import export_memories, import_memories

PLUGIN = Path(__file__).parent.parent
ODD_TEXTS = (
    "Tabs, never spaces",
    "Two lines\n---\n# heading: x\n\n- \"quoted\" 'single'",
    "日本語のメモ 🐚",
    "../../etc/passwd",
    "---\nid: mem_x\n---",
)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that does not exist yet."""
    return tmp_path / "notes" / "memories"


def contents(folder: Path) -> dict[str, str]:
    """The files of the folder."""
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def stored(records: Records) -> dict[str, Any]:
    """All that the store has of each memory."""
    return {
        each.id: (each.text, dict(each.fields), each.created_at, each.project)
        for each in records.scan()
    }


def test_nothing_is_lost_on_the_way_there_and_back(
    book: MemoryBook, folder: Path, tmp_path: Path
) -> None:
    """Another store has the same records; a second export and import write nothing."""
    for text in ODD_TEXTS:
        book.remember(text, tags=["c#", "2026", "null", "a:b"], importance=0.25)
        book.remember(text, category="naïve", shared=True)
        book.remember(f"{text} again", sequence="s: 1, [2]")
    book.records.put([Record(id="Other-1", text="of a host", fields={"x": {"y": [1, "a"]}})])

    assert len(export_memories(book, folder).done["stored"]) == 16
    before = contents(folder)
    again = export_memories(book, folder)
    assert (list(again.done), again.refused) == (["unchanged"], [])
    with open_records(tmp_path / "elsewhere", "memories", project="demo") as others:
        there = MemoryBook(others)
        assert len(import_memories(there, folder).done["stored"]) == 16
        ours, theirs = stored(book.records), stored(others)
        assert theirs.pop("Other-1")[1]["x"] == ours.pop("Other-1")[1]["x"]
        assert theirs == ours
        assert import_memories(there, folder).done.keys() == {"unchanged"}
        assert not export_memories(there, folder).refused
    assert contents(folder) == before


def test_a_file_is_readable(run: CommandLine, folder: Path) -> None:
    """Named by its first words and its id, with the fields above the text."""
    run("remember", "Tabs, never spaces!", "--tag", "c#", "--tag", "style")

    said = run("memories", "export", "--markdown", str(folder))

    assert (said.exit_code, said.stdout) == (0, "1 written new\n")
    ((name, content),) = contents(folder).items()
    assert re.fullmatch(r"tabs-never-spaces-[0-9a-z]{12}\.md", name)
    assert re.fullmatch(
        r"---\nid: mem_\w{12}\ncreated_at: 20[\d:.T+-]+\nscope: project\ncategory: facts\n"
        r'importance: 0\.5\ntags: \["c#", style\]\n(.+: .+\n)*---\n\nTabs, never spaces!\n',
        content,
    )
    assert (folder / name).stat().st_mode & 0o077 == 0


def test_a_secret_is_in_no_file_name(run: CommandLine, folder: Path) -> None:
    """A memory with one is named by its id alone."""
    key = "sk-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    run("remember", f"API_KEY={key} is the key")

    run("memories", "export", "--markdown", str(folder))

    ((name, content),) = contents(folder).items()
    assert re.fullmatch(r"[0-9a-z]{12}\.md", name)
    assert key in content


def test_files_are_edited_renamed_and_begun_by_hand(run: CommandLine, folder: Path) -> None:
    """An import reads them; an export keeps a renamed file and gives a begun one its id."""
    memory = printed_json(run("remember", "Tabs, never spaces", "--json"))
    run("memories", "export", "--markdown", str(folder))
    (file,) = folder.iterdir()
    edited = file.read_text(encoding="utf-8").replace("Tabs", "Blanks")
    edited = edited.replace("tags: []", "# mine\ntags:\n  - Style\n  - 'its'")
    file.rename(folder / "mine.md").write_text(edited, encoding="utf-8")
    begun = "---\ncategory: decision\nscope: user\n---\nAsk before you push\n"
    (folder / "new.md").write_text(begun, encoding="utf-8")

    said = run("memories", "import", str(folder))

    assert said.stdout == "1 new, 1 changed\n"
    changed = printed_json(run("memories", "show", memory["id"], "--json"))
    assert (changed["text"], changed["tags"]) == ("Blanks, never spaces", ["style", "its"])
    (asked,) = printed_json(run("memories", "search", "push", "--json"))
    assert (asked["category"], asked["scope"]) == ("decisions", "user")
    said = run("memories", "export", "--markdown", str(folder))
    assert said.stdout == "1 changed, 1 unchanged\n"
    assert contents(folder).keys() == {"mine.md", "new.md"}
    assert f"id: {asked['id']}\n" in contents(folder)["new.md"]
    assert contents(folder)["mine.md"] == edited
    assert run("memories", "import", str(folder)).stdout == "2 unchanged\n"


def test_an_edited_file_is_not_overwritten_unasked(run: CommandLine, folder: Path) -> None:
    """It is named, with what differs; `--overwrite` replaces it."""
    run("remember", "Tabs, never spaces")
    run("memories", "export", "--markdown", str(folder))
    (file,) = folder.iterdir()
    before = file.read_text(encoding="utf-8")
    file.write_text(
        before.replace("Tabs", "Blanks").replace("importance: 0.5", "importance: 0.9"),
        encoding="utf-8",
    )

    kept = run("memories", "export", "--markdown", str(folder))

    assert kept.exit_code == 1
    assert f"{file.name}: differs from the store in importance, text; import it" in kept.stdout
    assert "Blanks" in file.read_text(encoding="utf-8")
    run("memories", "export", "--markdown", str(folder), "--overwrite")
    assert file.read_text(encoding="utf-8") == before


def test_the_later_change_counts(run: CommandLine, folder: Path) -> None:
    """An old file does not undo what the store learned; two changes are a conflict, and named."""
    old = printed_json(run("remember", "The timeout is 30 s", "--json"))
    tabs = printed_json(run("remember", "Tabs, never spaces", "--json"))
    run("memories", "export", "--markdown", str(folder))
    run("remember", "The timeout is 60 s", "--replaces", old["id"])
    (file,) = folder.glob("tabs-*")
    file.write_text(file.read_text(encoding="utf-8").replace("Tabs", "Blanks"), encoding="utf-8")

    said = run("memories", "import", str(folder))

    assert said.stdout.startswith("1 changed\n")
    assert said.stdout.endswith(": is older than the store: export again\n")
    ended = printed_json(run("memories", "show", old["id"], "--json"))
    assert ended["valid_until"] is not None
    said = run("memories", "export", "--markdown", str(folder))
    assert (said.exit_code, said.stdout) == (0, "1 written new, 1 changed, 1 unchanged\n")
    file.write_text(file.read_text(encoding="utf-8").replace("Blanks", "Both"), encoding="utf-8")
    run("memories", "edit", tabs["id"], "--importance", "0.9")
    for command in (("export", "--markdown", str(folder)), ("import", str(folder))):
        said = run("memories", *command)
        assert said.exit_code == 1
        assert f"{file.name}: differs from the store in importance, text" in said.stdout
    run("memories", "import", str(folder), "--overwrite")
    assert printed_json(run("memories", "show", tabs["id"], "--json"))["text"].startswith("Both")
    assert run("memories", "export", "--markdown", str(folder)).stdout == "3 unchanged\n"


def test_a_file_of_no_memory_is_deleted_only_on_request(run: CommandLine, folder: Path) -> None:
    """Others are never deleted: a README, a file that is not imported yet."""
    memory = printed_json(run("remember", "Tabs", "--json"))
    run("memories", "export", "--markdown", str(folder))
    run("memories", "forget", memory["id"])
    (folder / "README.md").write_text("# Ours\n", encoding="utf-8")
    (folder / "new.md").write_text("---\ntags: [a]\n---\nNew\n", encoding="utf-8")

    said = run("memories", "export", "--markdown", str(folder))

    assert (said.exit_code, len(contents(folder))) == (0, 3)
    assert f"there is no memory {memory['id']}: import it, or use --delete" in said.stdout
    said = run("memories", "export", "--markdown", str(folder), "--delete")
    assert said.stdout.startswith("1 deleted\n")
    assert "new.md: is not imported yet" in said.stdout
    assert contents(folder).keys() == {"README.md", "new.md"}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda text: text.replace("0.5", "7"), "importance must be within 0..1, got 7"),
        (lambda text: text.replace("importance", "importence"), "did you mean importance?"),
        (lambda text: text.replace("scope: project", "scope: ours"), "scope must be project or"),
        (lambda text: text.replace("---\n\n", "\n"), "the front matter has no end"),
        (lambda text: text.replace("tags: []", "tags: [a"), "line 7: the list has no ] at its end"),
        (lambda text: text.replace("tags: []", "tags []"), "line 7: expected NAME: VALUE"),
        (lambda text: text.replace("Tabs", "\udcff"), "is not UTF-8: byte "),
        (lambda text: text.replace("Tabs", ""), "a memory must not be empty"),
        (lambda text: text + "x" * 500_000, "cannot be read: it has more than 500,000 bytes"),
        (lambda text: text + "password=tidal" + "99wave", "seems to contain"),
    ],
)
def test_a_broken_file_affects_only_itself(
    run: CommandLine, folder: Path, spoil: Callable[[str], str], reason: str
) -> None:
    """It is named with the reason and the exit code is 1; the others are read."""
    run("remember", "Tabs")
    run("memories", "export", "--markdown", str(folder))
    (file,) = folder.iterdir()
    broken = spoil(file.read_text(encoding="utf-8"))
    file.write_text(broken, encoding="utf-8", errors="surrogateescape")
    (folder / "new.md").write_text("---\n---\nNew\n", encoding="utf-8")

    said = run("memories", "import", str(folder))

    assert said.exit_code == 1
    assert said.stdout.startswith(f"1 new\n  {file.name}: ")
    assert reason in said.stdout
    listed = printed_json(run("memories", "list", "--json"))
    assert [each["text"] for each in listed] == ["New", "Tabs"]
    exported = run("memories", "export", "--markdown", str(folder))
    assert (file.name in exported.stdout) == (exported.exit_code == 1)
    assert len(list(folder.iterdir())) == 2 + ("500,000" in reason)


def test_nothing_outside_the_folder_is_read_or_written(
    run: CommandLine, folder: Path, tmp_path: Path
) -> None:
    """Neither through a link, nor by a name that an id makes."""
    outside = tmp_path / "outside.md"
    outside.write_text("---\nid: ../../../outside\n---\nThe secret plan\n", encoding="utf-8")
    before = outside.read_text(encoding="utf-8")
    folder.mkdir(parents=True)
    (folder / "link.md").symlink_to(outside)
    (folder / "odd.md").write_text(before.replace("secret", "open"), encoding="utf-8")

    said = run("memories", "import", str(folder))

    assert "link.md: cannot be read: " in said.stdout
    (memory,) = printed_json(run("memories", "list", "--json"))
    assert (memory["id"], memory["text"]) == ("../../../outside", "The open plan")
    (folder / "odd.md").unlink()
    run("memories", "export", "--markdown", str(folder), "--overwrite", "--delete")
    assert contents(folder).keys() == {"link.md", "the-open-plan-outside.md"}
    assert (folder / "link.md").is_symlink()
    assert outside.read_text(encoding="utf-8") == before
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert "is a symbolic link" in run("memories", "export", "--markdown", str(linked)).stderr
