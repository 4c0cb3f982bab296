"""The commands that contextkit itself has: where each is, and its line in the help."""

from __future__ import annotations

from collections.abc import Mapping

from contextkit.cli.lazy import LazyCommand

__all__ = ["BUILT_IN"]

_COMMANDS = (
    ("assemble", "assemble:assemble", "Print the context for a QUERY."),
    ("cache", "cache:cache", "Look at the cache, fill it, clear it."),
    ("completion", "completion:completion", "Print a shell's completion script."),
    ("config", "config:config", "Look at the configuration."),
    ("doctor", "doctor:doctor", "Check that everything works."),
    ("explain", "explain:explain", "Show what got in, what not, why."),
    ("export", "transfer:export", "Write every record as JSON lines."),
    ("history", "history:history", "Show or forget what was chosen."),
    ("hook", "hook:hook", "Answer an event of a coding agent."),
    ("import", "transfer:import_", "Store records from JSON lines."),
    ("index", "index:index", "Bring the records up to date."),
    ("init", "init:init", "Write a contextkit.toml to edit."),
    ("new-source", "new_source:new_source", "Begin a source of your own."),
    ("premortem", "assemble:premortem", "Print what went wrong before."),
    ("project", "project:project", "Show this folder's project, link it."),
    ("prune", "prune:prune", "Delete records that are not kept."),
    ("reembed", "transfer:reembed", "Make every record's vectors anew."),
    ("serve", "serve:serve", "Stay ready to answer agents' hooks."),
    ("sources", "sources:sources", "List the sources and their state."),
    ("strategies", "strategies:strategies", "List what may make a score."),
)

BUILT_IN: Mapping[str, LazyCommand] = {
    name: LazyCommand(name, f"contextkit.cli.{target}", summary)
    for name, target, summary in _COMMANDS
}
