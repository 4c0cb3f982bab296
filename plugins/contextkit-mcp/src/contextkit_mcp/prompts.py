"""Prompts: questions with their context, which a person picks in the client."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import mcp_types as types
from attrs import frozen

from contextkit import ContextKit, InvalidRequestError
from contextkit.agent import offered_recipes
from contextkit.errors import PluginError
from contextkit.text import visible

LONGEST = 10_000
"""Longest value of an argument."""

_PREMORTEM = "premortem"
_NEWEST = 200

_REMEMBER = """\
Look back over this session, and store what later sessions will need and cannot read in the code \
or its history: decisions and their reasons, the user's preferences, causes of errors, and facts \
about the environment.

1. Call list_memories, and leave out what is there already. If a memory is wrong by now, call \
forget for it.
2. Call remember once for each, in one or two sentences that can be understood alone. Store no \
secrets, and no progress reports.
{experiences}
At the end, list what you stored in one line each."""

_EXPERIENCES = """\
3. Call resolve_experience for each experience that ended in this session, with its result.
"""


@frozen(kw_only=True)
class _Argument:
    name: str
    about: str
    required: bool = False


@frozen(kw_only=True)
class OfferedPrompt:
    """A prompt.

    Attributes:
        name: its name.
        title: its name for people.
        about: what it is for.
        arguments: what it takes.
        tool: the tool that makes its context, or that it needs.
    """

    name: str
    title: str
    about: str
    arguments: Sequence[_Argument]
    tool: str

    def for_clients(self) -> types.Prompt:
        """Return the prompt as clients see it."""
        return types.Prompt(
            name=self.name,
            title=self.title,
            description=self.about,
            arguments=[
                types.PromptArgument(name=a.name, description=a.about, required=a.required)
                for a in self.arguments
            ],
        )

    def checked(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the arguments that have a value.

        Raises `InvalidRequestError` for one that is unknown, missing or too long.
        """
        known = [argument.name for argument in self.arguments]
        for name, value in given.items():
            if name not in known:
                has = f"it has: {', '.join(known)}" if known else "it has none"
                raise InvalidRequestError(
                    f"prompt '{self.name}' has no argument '{visible(name):.60}'; {has}"
                )
            if len(value) > LONGEST:
                raise InvalidRequestError(
                    f"prompt '{self.name}': {name} has {len(value):,} characters; "
                    f"at most {LONGEST:,} are allowed"
                )
        values = {name: value.strip() for name, value in given.items() if value.strip()}
        missing = [a.name for a in self.arguments if a.required and a.name not in values]
        if missing:
            raise InvalidRequestError(f"prompt '{self.name}' needs {', '.join(missing)}")
        return values


_ALL = (
    OfferedPrompt(
        name="ask",
        title="Ask about this project",
        about="A question, with what the project's sources know about it.",
        arguments=[_Argument(name="question", about="What you want to know.", required=True)],
        tool="assemble_context",
    ),
    OfferedPrompt(
        name=_PREMORTEM,
        title="What went wrong before",
        about="Warnings from past experiences, before you begin with a kind of work.",
        arguments=[
            _Argument(name="domain", about="The kind of work, such as debugging.", required=True),
            _Argument(name="strategy", about="How you want to go about it, in one word."),
        ],
        tool="get_premortem_context",
    ),
    OfferedPrompt(
        name="remember_session",
        title="Remember this session",
        about="Store what later sessions will need of this one.",
        arguments=[_Argument(name="focus", about="What to store above all.")],
        tool="remember",
    ),
)


def offered_prompts(tools: Collection[str]) -> dict[str, OfferedPrompt]:
    """Map names to the prompts whose tools are there."""
    return {prompt.name: prompt for prompt in _ALL if prompt.tool in tools}


def tool_arguments(prompt: OfferedPrompt, given: Mapping[str, str]) -> dict[str, str] | None:
    """Return the arguments of the tool that makes a prompt's context; None if none does."""
    if prompt.tool == "remember":
        return None
    return {"query": given["question"]} if "question" in given else dict(given)


def message_of(
    prompt: OfferedPrompt, given: Mapping[str, str], context: str, tools: Collection[str]
) -> str:
    """Write a prompt's message.

    Args:
        prompt: the prompt.
        given: its arguments.
        context: the answer of its tool; empty if it needs none.
        tools: the names of the tools that are there.
    """
    if prompt.name == "ask":
        return f"{visible(given['question'])}\n\nWhat the project's sources know:\n\n{context}"
    if prompt.name == _PREMORTEM:
        work = ", by ".join(given[name] for name in ("domain", "strategy") if name in given)
        return (
            f"We are about to begin with {visible(work)}. Name what may go wrong, and how we "
            f"notice it early. What went wrong before:\n\n{context}"
        )
    steps = _EXPERIENCES if "resolve_experience" in tools else ""
    focus = f"\n\nAbove all: {visible(given['focus'])}" if "focus" in given else ""
    return f"{_REMEMBER.format(experiences=steps)}{focus}"


def complete(kit: ContextKit, prompt: str, name: str, value: str) -> list[str]:
    """List values of a prompt's argument that begin with a text; blocks.

    They are those of the newest experiences.
    """
    if prompt != _PREMORTEM or name not in {"domain", "strategy"}:
        return []
    try:
        source = offered_recipes(kit.registry)[_PREMORTEM].plugin
        newest = kit.records(source).newest(_NEWEST)
    except (KeyError, PluginError):
        return []
    known = {str(record.fields.get(name) or "") for record in newest}
    return sorted(visible(each) for each in known if each and each.startswith(value))
