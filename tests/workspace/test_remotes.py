"""The addresses of remotes, by which clones are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.workspace.repository import normalised_remote


@pytest.mark.parametrize(
    "address",
    [
        "git@Example.org:ada/tide.git",
        "https://ada:secret@example.org/ada/tide",
        "ssh://git@example.org:2222/ada/Tide.git/",
        "git+ssh://example.org/ada/tide.git",
    ],
)
def test_addresses_of_one_remote_are_equal(address: str, tmp_path: Path) -> None:
    """Whatever the transport, the user and the password; none of them is kept."""
    assert normalised_remote(address, tmp_path) == "example.org/ada/tide"


@pytest.mark.parametrize("address", ["https://[::1/x", "", "C:/tide", "../tide", "file:///a/b"])
def test_any_address_gives_a_text(address: str, tmp_path: Path) -> None:
    """A remote can be anything that somebody wrote into a file."""
    assert isinstance(normalised_remote(address, tmp_path), str)
