"""OpenCode: a plugin with hooks, the MCP server in its settings, and the skill.

It follows the documentation of OpenCode 1.x, whose settings 2.x reads too. The plugin is
`opencode.js` beside this package. It uses the hooks `event`, `chat.message` and
`tool.execute.after` of 1.x, and writes events as Claude Code does.
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
    own, plugins = folder, folder / ".opencode" / "plugins"
    if scope == "user":
        own = (shapes.named_folder("XDG_CONFIG_HOME") or folder / ".config") / "opencode"
        plugins = own / "plugins"
    found = [
        AgentFile(plugins / "contextkit.js", _plugin(offer)),
        shapes.skill(folder / ".agents", offer),
    ]
    if not offer.server:
        return found
    commented = own / "opencode.jsonc"
    settings = commented if commented.exists() else own / "opencode.json"
    server = {"type": "local", "command": list(offer.server), "enabled": True}
    return [*found, AgentFile(settings, {"mcp": {shapes.NAME: server}})]


def _plugin(offer: AgentOffer) -> str:
    """Return the plugin with this installation's command."""
    import importlib.resources
    import json

    file = importlib.resources.files("contextkit_agents") / "opencode.js"
    text = file.read_text(encoding="utf-8")
    for name, value in {"COMMAND": list(offer.hook), "SECONDS": offer.seconds}.items():
        before, _, rest = text.partition(f"const {name} = ")
        text = f"{before}const {name} = {json.dumps(value)}\n{rest.partition(chr(10))[2]}"
    return text
