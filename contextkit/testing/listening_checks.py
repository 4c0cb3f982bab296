"""Check commands, importers and observing hooks.

The hooks observe agents' events and assembled contexts.
"""

from __future__ import annotations

import copy
import pkgutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contextkit.agent.imports import transcripts_of
from contextkit.cli.commands import PluginCommands
from contextkit.cli.lazy import LazyCommand
from contextkit.errors import in_words
from contextkit.models.transcripts import PastEvent, Transcript
from contextkit.plugin.checks import checked_importers
from contextkit.testing.subject import NotConformingError, Subject

_COMMANDS = "contextkit_commands"
_EVENT = "contextkit_agent_event"
_ASSEMBLED = "contextkit_assembled"
_IMPORTERS = "contextkit_importers"
_NOTHING = "zzxqv"
_ABOUT = {"session_id": "a-session", "cwd": "/nowhere"}
_EVENTS: Sequence[Mapping[str, Any]] = (
    {"hook_event_name": "SessionStart", "source": "startup", **_ABOUT},
    {"hook_event_name": "UserPromptSubmit", "prompt": "why does it fail?", **_ABOUT},
    {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "tool_response": {"stdout": "1 failed", "stderr": ""},
        **_ABOUT,
    },
    {
        "hook_event_name": "PostToolUse",
        "tool_name": "a_tool_of_tomorrow",
        "tool_input": [],
        "tool_response": "as text",
        **_ABOUT,
    },
    {"hook_event_name": "AnEventOfTomorrow", **_ABOUT},
)
"""What agents report, as they report it: fields are there or not, and of any JSON type."""


def check_commands(subject: Subject) -> None:
    """Check that commands can be listed and imported.

    They must not take a name of contextkit's own.
    """
    if not subject.has(_COMMANDS):
        return
    group = PluginCommands()
    subject.call(_COMMANDS, cli=group)
    for refused in group.refused:
        raise NotConformingError(f"{_COMMANDS}: {refused}: give it another name")
    for name, command in group.commands.items():
        if not command.get_short_help_str().strip():
            raise NotConformingError(
                f"{_COMMANDS}: the command '{name}' has no help text in the list of "
                f"commands: give it a docstring, or a summary"
            )
        if isinstance(command, LazyCommand):
            try:
                command.load()
            except Exception as error:
                raise NotConformingError(
                    f"{_COMMANDS}: the command '{name}' cannot be imported from "
                    f"{command.target}: {in_words(error)}"
                ) from error


def check_agent_events(subject: Subject) -> None:
    """Check that the hook accepts and preserves every agent event."""
    if not subject.has(_EVENT):
        return
    for event in _EVENTS:
        told = copy.deepcopy(dict(event))
        # A source's error names the hook; the event is added here.
        try:
            subject.call(_EVENT, event=told, kit=subject.kit)
        except Exception as error:
            raise NotConformingError(
                f"{_EVENT} fails for {dict(event)}: {in_words(error.__cause__ or error)}: "
                f"pass over what is not there, or not of the expected type"
            ) from error
        if told != event:
            raise NotConformingError(f"{_EVENT} changes the event: other plugins hear of it, too")


def check_importers(subject: Subject, transcripts: Path | None) -> None:
    """Check that importers read transcripts, and give the same events again.

    A source that keeps past sessions must name a function that can be imported.

    `transcripts` is a folder with transcripts of each importer; without it, only names and
    summaries are checked.
    """
    keeping = subject.kit.registry.info(subject.name).imports
    try:
        keeps = not keeping or callable(pkgutil.resolve_name(keeping))
    except (ImportError, AttributeError):
        keeps = False
    if not keeps:
        raise NotConformingError(f"SourceInfo.imports: no function can be imported from {keeping}")
    importers = checked_importers(subject.name, subject.call(_IMPORTERS) or ())
    for importer in importers:
        if not importer.summary.strip():
            raise NotConformingError(f"{_IMPORTERS}: '{importer.name}' has no summary")
        if transcripts is None:
            continue
        found = transcripts_of(importer, transcripts)
        events = [_past_events(transcript) for transcript in found]
        if not any(events):
            raise NotConformingError(
                f"{_IMPORTERS}: '{importer.name}' finds no event in {len(found)} transcripts of "
                f"{transcripts}"
            )
        ids = [event.id for each in events for event in each]
        if len(set(ids)) < len(ids):
            raise NotConformingError(
                f"{_IMPORTERS}: '{importer.name}' gives one id to several events: only one of them "
                f"would be stored"
            )
        if [_past_events(transcript) for transcript in found] != events:
            raise NotConformingError(
                f"{_IMPORTERS}: '{importer.name}' reads other events the second time: a second "
                f"import would store them again"
            )


def _past_events(transcript: Transcript) -> list[PastEvent]:
    return [part for part in transcript.read() if isinstance(part, PastEvent)]


def check_assembled(subject: Subject) -> None:
    """Check that the hook accepts and preserves every context.

    One context has items, and one has none.
    """
    if not subject.has(_ASSEMBLED):
        return
    for query in (subject.query, _NOTHING):
        context = subject.kit.assemble_context_sync(query, record_use=False)
        before = copy.deepcopy(context.as_dict())
        try:
            subject.call(_ASSEMBLED, context=context)
        except Exception as error:
            raise NotConformingError(
                f"{_ASSEMBLED} fails for a context of {len(context.items)} items: "
                f"{in_words(error.__cause__ or error)}"
            ) from error
        if context.as_dict() != before:
            raise NotConformingError(
                f"{_ASSEMBLED} changes the context: copy what you want to change"
            )
