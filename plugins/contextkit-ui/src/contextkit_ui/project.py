"""The project that the page shows."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from contextkit import ContextKit
from contextkit_ui.view import Hues, hues_of


@define(eq=False)
class Project:
    """A workspace's kit, which is opened again when its settings change.

    Attributes:
        kit: the kit that answers now.
        open_kit: opens one with the settings as they are.
        hues: the sources' colours.
    """

    kit: ContextKit
    open_kit: Callable[[], ContextKit]
    hues: Hues = field(init=False)

    @hues.default
    def _hues(self) -> Hues:
        return hues_of(self.kit.registry)

    def reopen(self) -> None:
        """Take over changed settings; requests that run finish with the old ones.

        Raises what opening a kit raises; the old kit then stays.
        """
        before, self.kit = self.kit, self.open_kit()
        self.hues = hues_of(self.kit.registry)
        before.close()
