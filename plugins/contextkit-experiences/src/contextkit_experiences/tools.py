"""Agent tools to start, update, resolve and list experiences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict, cast

from contextkit.errors import InvalidRequestError
from contextkit.models import Tool, ToolResult
from contextkit.sources import checked_limit
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.model import Experience, Lesson
from contextkit_experiences.showing import one_line_of, slips_of
from contextkit_experiences.vocabulary import DOMAINS, STRATEGIES, Ending, Status, Tier

if TYPE_CHECKING:
    from contextkit import ContextKit


_Id = Annotated[str, "its id, ghap_…, or the beginning"]


class _Listed(TypedDict):
    experiences: Annotated[list[Experience], "the last changed first"]


def _book(kit: ContextKit, *, shared: bool = False) -> ExperienceBook:
    records = kit.records("experiences")
    return ExperienceBook(records.shared if shared else records)


def _result(done: str, experience: Experience) -> ToolResult[Experience]:
    return ToolResult(experience, f"{done} {one_line_of(experience)}")


def _start(  # noqa: PLR0913, PLR0917 - a tool's parameters are its function's
    kit: ContextKit,
    goal: Annotated[str, "the goal to reach"],
    hypothesis: Annotated[str, "what you believe"],
    action: Annotated[str, "what you do on that belief"],
    prediction: Annotated[str, "what you expect to happen"],
    domain: Annotated[str, f"the kind of work, one word, such as {', '.join(DOMAINS)}"],
    strategy: Annotated[str, f"the way of working, one word, such as {', '.join(STRATEGIES)}"],
    notes: Annotated[list[str] | None, "remarks"] = None,
    for_all_projects: Annotated[bool, "true for what is worth knowing in every project"] = False,
) -> ToolResult[Experience]:
    begun = _book(kit, shared=for_all_projects).start(
        goal,
        hypothesis,
        action,
        prediction,
        domain=domain,
        strategy=strategy,
        notes=notes or (),
    )
    started = _result("started", begun)
    return ToolResult(started.data, "\n".join([started.text, *slips_of(begun)]))


def _update(
    kit: ContextKit,
    ghap_id: _Id,
    hypothesis: Annotated[str | None, "what you believe now"] = None,
    action: Annotated[str | None, "what you do now"] = None,
    prediction: Annotated[str | None, "what you expect now"] = None,
    note: Annotated[str | None, "a remark, put behind the others"] = None,
    new_iteration: Annotated[
        bool | None, "whether this counts as another try; default: when more than a note changes"
    ] = None,
) -> ToolResult[Experience]:
    updated = _book(kit).update(
        ghap_id,
        hypothesis=hypothesis,
        action=action,
        prediction=prediction,
        note=note,
        new_iteration=new_iteration,
    )
    return _result("updated", updated)


def _resolve(  # noqa: PLR0913, PLR0917
    kit: ContextKit,
    ghap_id: _Id,
    status: Annotated[Ending, "how it ended"],
    result: Annotated[str, "what happened"],
    surprise: Annotated[str | None, "what you did not expect"] = None,
    root_cause: Annotated[
        str | None, "why the hypothesis failed, or what was behind it all"
    ] = None,
    what_worked: Annotated[str | None, "the lesson: what did the job in the end"] = None,
    takeaway: Annotated[str | None, "the lesson: what to remember; needs what_worked"] = None,
    confidence_tier: Annotated[
        Tier | None, "how far to trust it; default: from tries, root cause and lesson"
    ] = None,
    replaces: Annotated[str | None, "id of one whose outcome this overturns"] = None,
) -> ToolResult[Experience]:
    if takeaway and not what_worked:
        raise InvalidRequestError("takeaway needs what_worked")
    lesson = Lesson(what_worked=what_worked, takeaway=takeaway) if what_worked else None
    resolved = _book(kit).resolve(
        ghap_id,
        status,
        result,
        surprise=surprise,
        root_cause=root_cause,
        lesson=lesson,
        confidence_tier=confidence_tier,
        replaces=replaces,
    )
    return _result("resolved", resolved)


def _list_experiences(
    kit: ContextKit,
    domain: Annotated[str | None, "only those of this domain"] = None,
    strategy: Annotated[str | None, "only those of this strategy"] = None,
    outcome: Annotated[Status | None, "only those of this status, such as open"] = None,
    limit: Annotated[int, "how many at most"] = 20,
) -> ToolResult[_Listed]:
    found = _book(kit).list(
        domain=domain, strategy=strategy, outcome=outcome, limit=checked_limit(limit)
    )
    lines = [one_line_of(each) for each in found] or ["No experiences."]
    data = {"experiences": [each.as_dict() for each in found]}
    return ToolResult(cast("_Listed", data), "\n".join(lines))


TOOLS = (
    Tool(
        name="start_experience",
        description=(
            "Write down, before you try something whose outcome you do not know, what you want, "
            "what you believe, what you do and what you expect. Gives the id to resolve it by "
            "once you know what came of it; premortems warn of what failed."
        ),
        run=_start,
    ),
    Tool(
        name="update_experience",
        description="Change an open experience on the way: the next hypothesis, or a remark.",
        run=_update,
    ),
    Tool(
        name="resolve_experience",
        description=(
            "End an open experience with what came of it: whether its hypothesis was confirmed or "
            "falsified, why, and what it teaches."
        ),
        run=_resolve,
    ),
    Tool(
        name="list_experiences",
        description=(
            "List experiences, the last changed first, with the ids; those that are open still "
            "wait to be resolved."
        ),
        run=_list_experiences,
        read_only=True,
    ),
)
"""Agent tools for experiences."""
