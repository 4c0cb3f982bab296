"""Two users on one server: what is one's own stays so, and what is a project's is shared."""

from __future__ import annotations

from contextkit import Record
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
