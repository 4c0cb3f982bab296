"""Say who this user is on a server, and whose the records of a folder are."""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.cli.checks.finding import Finding, fine, warning
from contextkit.config.installation import ID_NAME, ends_with_container
from contextkit.config.load import data_folder
from contextkit.config.settings import Config
from contextkit.models.record import USER_PREFIX
from contextkit.store.ownership import Ownership, is_path

_PART = "user"


def owner_findings(config: Config, project: str) -> Iterator[Finding]:
    """Say which user this is, how to be the same elsewhere, and what is not shared.

    An embedded store has one user, so that there is nothing to say.

    Args:
        config: the configuration.
        project: the project of the workspace, as its identity names it.

    Raises `StoreError` where the installation's id cannot be kept.
    """
    ownership = Ownership.of(config)
    if not ownership.is_shared:
        return
    name = ownership.user.removeprefix(USER_PREFIX)
    if config.store.user is not None:
        yield fine(_PART, f"{name} ({config.origin('store.user')}): has your global records")
    else:
        yield fine(
            _PART,
            f"{name} ({data_folder() / ID_NAME}): has your global records. To be the same user "
            f'on another machine, set store.user = "{name}" in its config.toml',
        )
    if ends_with_container(data_folder()):
        named = "" if config.store.user is None else ", even though store.user is set"
        yield warning(
            _PART,
            f"{data_folder()} ends with this container, and with it the id that your records of "
            f"folders and your links of projects need{named}",
            "mount a volume there, or set CONTEXTKIT_STORE_USER and CONTEXTKIT_PROJECT",
        )
    if is_path(project):
        yield fine(
            "project",
            f"{project} has no name: only this installation sees its records. To share them, set "
            f"`project` in its contextkit.toml or CONTEXTKIT_PROJECT",
        )
