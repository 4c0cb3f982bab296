"""OpenCode: the MCP server in its settings, and the skill.

It follows the documentation of OpenCode 1.x, whose settings 2.x reads too. Its hooks are functions
of JavaScript plugins, which differ between 1.x and 2.x, so that none is installed.
"""

from __future__ import annotations

from contextkit.agent import context_output
from contextkit_agents import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contextkit.models import AgentFile, AgentOffer, Scope

TITLE = "OpenCode"
LOOKED_UP = "1.x and 2.x"
PROGRAMS = ("opencode",)
FOLDERS = (".config/opencode",)
AFTERWARDS = "Restart OpenCode."

read, answer = dict, context_output


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of OpenCode."""
    from contextkit.models import AgentFile

    if scope == "folder":
        return []
    own = folder
    if scope == "user":
        own = (shapes.named_folder("XDG_CONFIG_HOME") or folder / ".config") / "opencode"
    found = [shapes.skill(folder / ".agents", offer)]
    if not offer.server:
        return found
    commented = own / "opencode.jsonc"
    settings = commented if commented.exists() else own / "opencode.json"
    server = {"type": "local", "command": list(offer.server), "enabled": True}
    return [*found, AgentFile(settings, {"mcp": {shapes.NAME: server}})]
