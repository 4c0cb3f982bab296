"""Whose a record is in a store: this user's, this installation's, or everybody's."""

from __future__ import annotations

from contextkit.config.installation import installation_id
from contextkit.config.sections import StoreSettings
from contextkit.config.settings import Config
from contextkit.models.record import Filters, Record
from contextkit.store.ownership import Ownership

_INDEXED: dict[str, Filters | None] = {"code": None, "entities": {"origin": "hand"}}
_SERVER = Config(store=StoreSettings(url="http://example.org"))
_NAMED = Config(store=StoreSettings(url="http://example.org", user="ada"))


def _records() -> list[Record]:
    """A record of each kind, as an embedded store has it."""
    return [
        Record(id="mine", text="", source="memories", project=""),
        Record(id="hers", text="", source="memories", project="user:eve"),
        Record(id="here", text="", source="memories", project="/workspace"),
        Record(id="git", text="", source="memories", project="git:12/example.org/a"),
        Record(id="name", text="", source="memories", project="name:/workspace"),
        Record(id="code", text="", source="code", project="/workspace"),
        Record(id="made", text="", source="entities", project="/workspace"),
        Record(
            id="kept",
            text="",
            source="entities",
            project="C:\\workspace",
            fields={"origin": "hand"},
        ),
    ]


def _projects(config: Config, records: list[Record]) -> dict[str, str]:
    adopted = Ownership.of(config).adopted(records, _INDEXED)
    return {record.id: record.project for record in adopted}


def test_a_server_takes_records_over_under_its_user_and_installation() -> None:
    """What git or a name identifies keeps its project, as what other users have does."""
    own = installation_id()
    assert _projects(_SERVER, _records()) == {
        "mine": f"user:{own}",
        "hers": "user:eve",
        "here": f"folder:{own}:/workspace",
        "git": "git:12/example.org/a",
        "name": "name:/workspace",
        "code": f"checkout:{own}:/workspace",
        "made": f"checkout:{own}:/workspace",
        "kept": f"folder:{own}:C:\\workspace",
    }
    assert _projects(_NAMED, _records())["mine"] == "user:ada"


def test_an_embedded_store_takes_them_back() -> None:
    """The way back gives the same records, and leaves another installation's as they are."""
    here = _records()
    there = Ownership.of(_NAMED).adopted(here, _INDEXED)
    elsewhere = Record(id="other", text="", source="code", project="checkout:0123:/workspace")
    back = Ownership.of(Config(store=StoreSettings(user="ada"))).adopted(
        [*there, elsewhere], _INDEXED
    )
    assert back == [*here, elsewhere]
