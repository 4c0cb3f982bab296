"""More time for the sources where somebody waits for one answer."""

from __future__ import annotations

from contextkit.config.load import DEADLINE, SOURCE_TIMEOUT, patient
from contextkit.config.origins import Origin
from contextkit.config.sections import AssembleSettings
from contextkit.config.settings import Config


def test_both_limits_are_longer_where_none_is_configured() -> None:
    """Longer than what the library has by itself; nothing else differs."""
    config = patient(Config())
    assert config.assemble == AssembleSettings(source_timeout=SOURCE_TIMEOUT, deadline=DEADLINE)
    assert AssembleSettings().source_timeout < SOURCE_TIMEOUT < DEADLINE
    assert AssembleSettings().deadline < DEADLINE
    origins = {key: str(origin) for key, _, origin in config.described() if origin.layer}
    assert origins["assemble.deadline"] == "default of commands"
    assert origins["assemble.limit"] == "default"


def test_what_is_configured_stays_as_it_is() -> None:
    """Each of the limits by itself, also where it is what the library has."""
    chosen = Origin("user", "config.toml", 2)
    settings = AssembleSettings(deadline=0.5)
    config = patient(Config(assemble=settings, origins={"assemble.deadline": chosen}))
    assert config.assemble.deadline == 0.5
    assert config.assemble.source_timeout == SOURCE_TIMEOUT
    assert config.origins["assemble.deadline"] is chosen
