"""Two users on one server: what is one's own stays so, and what is a project's is shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit import ContextKitError, Record
from contextkit.testing import ToolCaller
from tests.store.team import Team


def test_a_global_record_is_its_users_alone(team: Team) -> None:
    """Another user of the collection neither finds, counts, gets nor deletes it."""
    root = team.repository()
    with team.kit("ada", root) as kit:
        kit.records("memories").shared.put([Record(id="private", text="my desk is by the harbour")])
    with team.kit("bob", root) as kit:
        bob = kit.records("memories")
        assert bob.search_sync("harbour") == []
        assert (list(bob.scan()), bob.get("private"), bob.newest(9)) == ([], [], [])
        assert (bob.count(), bob.delete("private")) == (0, 0)
        bob.shared.delete_where({})
    with team.kit("ada", root) as kit:
        ada = kit.records("memories")
        assert [record.id for record in (*ada.get("private"), *ada.newest(9))] == ["private"] * 2
        assert [hit.record.id for hit in ada.search_sync("harbour")] == ["private"]


PRIVATE = "The private key of my desk is under the harbour lamp"
SHARED = "The harbour lamp of the ledger burns at night"
ASKED = "where is the harbour lamp?"
ENTITY = ("entities", "add", "Harbour lamp", "--type", "lamp", "--property", "desk=private")


@pytest.fixture
def written(team: Team) -> Path:
    """A repository of which Ada and Bob share the project; Ada has private records, too."""
    root = team.repository()
    for arguments in ([PRIVATE, "--global"], [SHARED]):
        assert team.run("ada", root, "remember", *arguments).exit_code == 0
    assert team.run("ada", root, *ENTITY, "--global").exit_code == 0
    linked = team.run(
        "bob", root, "project", "link", team.json("ada", root, "project", "show")["project"]
    )
    assert linked.exit_code == 0, linked.stderr
    return root


@pytest.mark.parametrize(
    "arguments",
    [
        ("assemble", ASKED),
        ("explain", ASKED, "--json"),
        ("memories", "list"),
        ("memories", "search", ASKED),
        ("entities", "list", "--json"),
        ("entities", "show", "Harbour lamp", "--json"),
        ("export",),
        ("report", ASKED, "--html", "-"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_no_command_shows_another_users_private_record(
    team: Team, written: Path, arguments: tuple[str, ...]
) -> None:
    """Its user sees it with the same command, and both see the project's."""
    hers = team.run("ada", written, *arguments).stdout
    his = team.run("bob", written, *arguments).stdout
    assert "private" in hers, hers
    assert "private" not in his
    assert (SHARED in hers) == (SHARED in his)


def test_no_hook_of_an_agent_shows_it(team: Team, written: Path) -> None:
    """Each user's agent gets what the user has."""
    assert PRIVATE in team.hook("ada", written, ASKED)
    his = team.hook("bob", written, ASKED)
    assert (PRIVATE in his, SHARED in his) == (False, True)


async def test_no_tool_of_an_agent_shows_it(team: Team, written: Path) -> None:
    """Nor does one forget it."""
    with team.kit("ada", written) as kit:
        hers = await ToolCaller(kit)("list_memories")
    private = next(one["id"] for one in hers.data["memories"] if one["text"] == PRIVATE)
    with team.kit("bob", written) as kit:
        call = ToolCaller(kit)
        assert PRIVATE not in str(await call("list_memories"))
        with pytest.raises(ContextKitError, match="no memory"):
            await call("forget", ids=[private])
    assert PRIVATE in team.run("ada", written, "memories", "show", private).stdout


def test_the_same_user_on_a_second_machine(team: Team, written: Path) -> None:
    """`project show` says which name to set there."""
    name = team.json("ada", written, "project", "show")["user"]
    shown = team.run("ada", written, "project", "show").stdout
    assert f'store.user = "{name}"' in shown
    second = {"CONTEXTKIT_STORE_USER": name}
    assert PRIVATE in team.run("ada2", written, "memories", "list", **second).stdout
    assert PRIVATE not in team.run("ada2", written, "memories", "list").stdout


def test_a_hosts_user_is_the_user_of_that_name(team: Team, written: Path) -> None:
    """A host that answers many users gives one the records that the command line gave it."""
    name = team.json("ada", written, "project", "show")["user"]
    with team.kit("host", written) as kit:
        for user, expected in ((name, True), ("eve", False), (None, False)):
            found = [record.text for record in kit.records("memories", user).scan()]
            assert (PRIVATE in found) is expected
            context = kit.assemble_context_sync(ASKED, user=user)
            assert (PRIVATE in str(context)) is expected


def test_pruning_deletes_no_other_users_records(team: Team, written: Path) -> None:
    """A user's limits are for the user's records, and for those of the project."""
    limit = {"CONTEXTKIT_SOURCES_MEMORIES_KEEP_RECORDS": "1"}
    for text in ("The first lamp", "The second lamp"):
        team.run("bob", written, "remember", text, "--global")
    assert team.json("bob", written, "prune", "memories", **limit)["memories"]["too_many"] == 1
    assert PRIVATE in team.run("ada", written, "memories", "list").stdout


def test_an_export_moves_to_an_embedded_store_and_back(team: Team, written: Path) -> None:
    """A global record is the user's in both, and on the server another user's import."""
    file = team.folder / "records.jsonl"
    assert team.run("ada", written, "export", str(file)).exit_code == 0
    embedded = {"CONTEXTKIT_STORE_URL": ""}
    assert team.run("ada", written, "import", str(file), **embedded).exit_code == 0
    assert PRIVATE in team.run("ada", written, "memories", "list", **embedded).stdout
    assert team.run("ada", written, "export", str(file), **embedded).exit_code == 0
    assert team.run("eve", written, "import", str(file)).exit_code == 0
    assert PRIVATE in team.run("eve", written, "memories", "list").stdout
    assert PRIVATE not in team.run("bob", written, "memories", "list").stdout


def test_a_folder_without_a_name_is_not_shared(team: Team) -> None:
    """Everybody's container may have the same path; a name shares it, and it says so."""
    root = team.folder / "workspace"
    root.mkdir()
    team.run("ada", root, "remember", PRIVATE)
    assert PRIVATE in team.run("ada", root, "memories", "list").stdout
    assert PRIVATE not in team.run("bob", root, "memories", "list").stdout
    for command in (("project", "show"), ("doctor",)):
        assert "CONTEXTKIT_PROJECT" in team.run("bob", root, *command).stdout
    named = {"CONTEXTKIT_PROJECT": "harbour"}
    team.run("ada", root, "remember", SHARED, **named)
    assert SHARED in team.run("bob", root, "memories", "list", **named).stdout


def test_a_name_that_came_with_a_folder_needs_a_link(team: Team) -> None:
    """A clone could name any project on the server; the user links it, or gives the name."""
    folders = []
    for who in ("ada", "bob"):
        root = team.folder / f"{who}-folder"
        root.mkdir()
        (root / "contextkit.toml").write_text('project = "harbour"\n')
        folders.append(root)
    hers, his = folders
    assert team.run("ada", hers, "remember", SHARED).exit_code == 0
    refused = team.run("bob", his, "memories", "list")
    assert (SHARED in refused.stdout, "project link harbour" in refused.stderr) == (False, True)
    team.json("bob", his, "project", "link", "harbour")
    assert SHARED in team.run("bob", his, "memories", "list").stdout
    assert SHARED in team.run("ada", hers, "memories", "list").stdout


@pytest.mark.disk
def test_a_container_that_keeps_nothing_is_noticed(team: Team, tmp_path: Path) -> None:
    """With its data folder goes the user."""
    if tmp_path.stat().st_dev != Path("/").stat().st_dev:
        pytest.skip("the temporary folder is on a volume of its own")
    root = team.repository()
    said = team.run("ada", root, "doctor", KUBERNETES_SERVICE_HOST="10.0.0.1").stdout
    assert "ends with this container" in said
    assert "CONTEXTKIT_STORE_USER" in said


def test_without_a_data_folder_user_and_project_have_names(team: Team, written: Path) -> None:
    """A container that may write nowhere reads and remembers under names; code needs an id."""
    nowhere = {"CONTEXTKIT_HOME": str(written / "contextkit.toml" / "data")}
    (written / "contextkit.toml").write_text("")
    refused = team.run("bob", written, "assemble", ASKED, **nowhere)
    assert (refused.exit_code, "CONTEXTKIT_PROJECT" in refused.stderr) == (4, True)
    named = {**nowhere, "CONTEXTKIT_STORE_USER": "bob", "CONTEXTKIT_PROJECT": "harbour"}
    for text in (["a lamp at the harbour"], ["my harbour lamp", "--global"]):
        assert team.run("bob", written, "remember", *text, **named).exit_code == 0
    found = team.run("bob", written, "assemble", ASKED, "--no-index", **named).stdout
    assert ("a lamp at" in found, "my harbour" in found) == (True, True)
