"""The hooks that a plugin may implement for coding agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit.plugin.spec import hookspec

if TYPE_CHECKING:
    from contextkit.models.agents import AgentAdapter
    from contextkit.models.kit import Kit
    from contextkit.models.transcripts import SessionImporter


@hookspec
def contextkit_agent_event(event: Mapping[str, Any], kit: Kit) -> None:
    """Observe an event of a coding agent: a prompt, a tool that was used, an end.

    Called after the event was answered, in a background process, for every plugin that is on; not
    where hooks are off, for all or for this session. `event` has the fields of Claude Code
    (`hook_event_name`, `session_id`, `cwd`, `prompt`, `tool_name`, `tool_input`, `tool_response`,
    …), its long texts cut. It may hold secrets. A failure is noted in `hooks/hooks.log`.

    ```python
    @hookimpl
    def contextkit_agent_event(event, kit):
        if event["hook_event_name"] == "UserPromptSubmit":
            kit.records("weather").put([Record(id=event["session_id"], text=event["prompt"])])
    ```
    """


@hookspec
def contextkit_importers() -> Sequence[SessionImporter] | None:
    """Offer importers of agents' past sessions, for `contextkit import NAME`. `None`: none.

    Called when sessions are imported or importers listed. `contextkit.agent.json_lines` reads files
    of JSON lines. Sources with `SourceInfo.imports` keep the events. Names must differ.

    ```python
    @hookimpl
    def contextkit_importers():
        return [SessionImporter(name="parrot", summary="Sessions of Parrot.", find=find_sessions)]
    ```
    """


@hookspec
def contextkit_agents() -> Sequence[AgentAdapter] | None:
    """Connect coding agents, for `contextkit install` and `contextkit hook --agent`. `None`: none.

    Called when agents are installed or listed, and by the agent's hooks. `AgentAdapter` describes
    the agent's files, and translates its events and the answers. Names must differ.

    ```python
    @hookimpl
    def contextkit_agents():
        def files(offer, scope, folder):
            hooks = {"on_prompt": [{"run": list(offer.hook)}]}
            return [AgentFile(folder / ".parrot" / "hooks.json", hooks)]

        def answer(event, context):
            return {"say": context}

        about = {"name": "parrot", "title": "Parrot", "looked_up": "1.4", "programs": ["parrot"]}
        return [AgentAdapter(**about, files=files, read=dict, answer=answer)]
    ```
    """
