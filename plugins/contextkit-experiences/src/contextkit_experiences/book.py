"""Start, update, resolve, add and list a project's experiences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import evolve, field, fields, frozen

from contextkit.logs import get_logger
from contextkit.models import Record, Records
from contextkit.sources import by_beginning
from contextkit_experiences.axes import from_record, record_id, to_records
from contextkit_experiences.errors import ExperienceStateError, UnknownExperienceError
from contextkit_experiences.model import ID_PREFIX, Experience, Lesson, is_id, new_id
from contextkit_experiences.vocabulary import AXES, Status, Tier, checked_word

_log = get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


@frozen
class ExperienceBook:
    """Reads and writes experiences; every method blocks.

    It reads the project's and the user's own, and writes a new one to the project: for experiences
    visible in all projects, make the book of `records.shared`. An update goes to where the
    experience lives. If two processes change the same experience at the same moment, the later text
    wins.

    Attributes:
        records: the records of the source `experiences`.
        clock: returns the current time, aware.
    """

    records: Records
    clock: Callable[[], datetime] = field(default=_now)

    def start(
        self,
        goal: str,
        hypothesis: str,
        action: str,
        prediction: str,
        *,
        domain: str,
        strategy: str,
        notes: Sequence[str] = (),
    ) -> Experience:
        """Begin an experience, and store it open.

        Raises `InvalidExperienceError` for an invalid value.
        """
        at = self.clock()
        experience = Experience(
            id=new_id(at),
            goal=goal,
            hypothesis=hypothesis,
            action=action,
            prediction=prediction,
            domain=domain,
            strategy=strategy,
            notes=tuple(notes),
            started_at=at,
        )
        self._store([experience], self.records)
        return experience

    def update(
        self,
        ghap_id: str,
        *,
        hypothesis: str | None = None,
        action: str | None = None,
        prediction: str | None = None,
        note: str | None = None,
        new_iteration: bool | None = None,
    ) -> Experience:
        """Change an open experience.

        Args:
            ghap_id: its id, or a beginning of it that no other has.
            hypothesis: the current hypothesis.
            action: the current action.
            prediction: the current prediction.
            note: a remark, appended to the others.
            new_iteration: whether `iteration_count` grows by one; default: when the
                hypothesis, the action or the prediction is given.

        Raises:
            UnknownExperienceError: no experience has this id.
            ExperienceStateError: it is resolved, or nothing is given to change.
            InvalidExperienceError: a value is invalid.
        """
        experience, home = self._open_one(ghap_id, "updated")
        changes: dict[str, Any] = {
            name: value
            for name, value in (
                ("hypothesis", hypothesis),
                ("action", action),
                ("prediction", prediction),
            )
            if value is not None
        }
        if not changes and note is None and not new_iteration:
            raise ExperienceStateError(
                f"nothing to change in {ghap_id}: give a hypothesis, an action, a prediction, "
                f"a note or a new iteration"
            )
        if new_iteration or (new_iteration is None and changes):
            changes["iteration_count"] = experience.iteration_count + 1
        if note is not None:
            changes["notes"] = (*experience.notes, note)
        updated = evolve(experience, updated_at=self._after(experience), **changes)
        self._store([updated], home)
        return updated

    def resolve(
        self,
        ghap_id: str,
        status: Status,
        result: str,
        *,
        surprise: str | None = None,
        root_cause: str | None = None,
        lesson: Lesson | None = None,
        confidence_tier: Tier | None = None,
        replaces: str | None = None,
    ) -> Experience:
        """Resolve an open experience with its outcome.

        Args:
            ghap_id: its id, or a beginning of it that no other has.
            status: `confirmed`, `falsified` or `abandoned`.
            result: what happened.
            surprise: what was not expected.
            root_cause: why the hypothesis failed, or what was behind it all.
            lesson: the lesson from it.
            confidence_tier: default: as computed by `model.derived_tier`.
            replaces: the id of an experience whose outcome this one overturns. That one is not
                deleted, but contexts do not show it as true any more.

        Raises:
            UnknownExperienceError: no experience has this id.
            ExperienceStateError: it is resolved already, or the status is `open`.
            InvalidExperienceError: a value is invalid.
        """
        experience, home = self._open_one(ghap_id, "resolved")
        if status == "open":
            raise ExperienceStateError(
                f"{ghap_id} is open already: resolve it as confirmed, falsified or abandoned"
            )
        at = self._after(experience)
        data = _without_tier(experience) | {
            "outcome_status": status,
            "outcome_result": result,
            "surprise": surprise,
            "root_cause": root_cause,
            "lesson": lesson,
            "updated_at": at,
            "resolved_at": at,
        }
        overturned = [] if replaces is None else [self._overturnable(replaces, experience)]
        data["replaces"] = (*experience.replaces, *(old.id for old, _ in overturned))
        if confidence_tier is not None:
            data["confidence_tier"] = confidence_tier
        resolved = Experience(**data)
        self._store([resolved], home)
        for old, its_home in overturned:
            self._store([evolve(old, valid_until=at, replaced_by=resolved.id)], its_home)
        return resolved

    def _overturnable(self, ghap_id: str, by: Experience) -> tuple[Experience, Records]:
        record = self._found(ghap_id)
        old = from_record(record)
        if old.id == by.id:
            raise ExperienceStateError(f"{old.id} cannot overturn itself")
        if old.valid_until is not None:
            raise ExperienceStateError(
                f"{old.id} was overturned by {old.replaced_by} already: use that one instead"
            )
        return old, self._home(record)

    def add(self, experiences: Iterable[Experience], *, replace: bool = False) -> None:
        """Store whole experiences: all of them, or none.

        Args:
            experiences: the experiences; no two of one id.
            replace: whether existing ones are replaced.

        Raises:
            ExperienceStateError: an id is there already, or twice among them.
        """
        added = list(experiences)
        _refuse_twins(added)
        there = self._find([experience.id for experience in added])
        if there and not replace:
            others = f" and {len(there) - 1} more" if len(there) > 1 else ""
            raise ExperienceStateError(
                f"{min(there)}{others} is there already, nothing was added: "
                f"leave it out, or ask for it to be replaced"
            )
        for home in (self.records, self.records.shared):
            here = [e for e in added if self._home(there.get(e.id)).project == home.project]
            if here:
                self._store(here, home)

    def get(self, ghap_id: str) -> Experience:
        """Return one experience, by its id or a beginning that no other id has.

        Raises `UnknownExperienceError` if it does not exist, and `AmbiguousEntryError` if several
        ids begin so.
        """
        return from_record(self._found(ghap_id))

    def list(
        self,
        *,
        domain: str | None = None,
        strategy: str | None = None,
        outcome: Status | None = None,
        limit: int = 50,
    ) -> list[Experience]:
        """Return the matching experiences, the last changed first.

        Args:
            domain: only experiences of this domain.
            strategy: only experiences of this strategy.
            outcome: only experiences of this status; `open` for unresolved ones.
            limit: the most experiences to return, from 1.
        """
        filters: dict[str, Any] = {"axis": "full"}
        if domain is not None:
            filters["domain"] = checked_word(domain, "domain")
        if strategy is not None:
            filters["strategy"] = checked_word(strategy, "strategy")
        if outcome is not None:
            filters["outcome_status"] = outcome
        newest = self.records.newest(limit, filters)
        found = [from_record(record) for record in newest]
        return sorted(found, key=lambda each: (each.updated_at, each.id), reverse=True)

    def remove(self, ghap_id: str) -> Experience:
        """Delete an experience on every axis, and return it.

        Raises `UnknownExperienceError` if it does not exist.
        """
        record = self._found(ghap_id)
        removed = from_record(record)
        self._home(record).delete_where({"ghap_id": removed.id})
        _log.debug("experience_removed", ghap_id=removed.id)
        return removed

    def _find(self, ghap_ids: Iterable[str]) -> dict[str, Record]:
        """Return the existing full records, by GHAP id.

        The project's own come before the user's.
        """
        found = self.records.get(*(record_id(ghap_id, "full") for ghap_id in ghap_ids))
        found.sort(key=lambda record: record.project == self.records.project)
        return {_ghap_id_of(record): record for record in found}

    def _found(self, ghap_id: str) -> Record:
        typed = ghap_id.strip() if isinstance(ghap_id, str) else ""
        if exact := self._find([typed]) if is_id(typed) else {}:
            return exact[typed]
        full = self.records.scan({"axis": "full"}) if typed.isprintable() else ()
        found = by_beginning(ghap_id, full, spellings=(typed,), prefix=ID_PREFIX, id_of=_ghap_id_of)
        if not found:
            raise UnknownExperienceError(ghap_id)
        return max(found, key=lambda record: record.project == self.records.project)

    def _home(self, record: Record | None) -> Records:
        is_the_users = record is not None and record.project != self.records.project
        return self.records.shared if is_the_users else self.records

    def _open_one(self, ghap_id: str, verb: str) -> tuple[Experience, Records]:
        record = self._found(ghap_id)
        experience = from_record(record)
        if not experience.is_open:
            raise ExperienceStateError(
                f"{ghap_id} cannot be {verb}: it is resolved already "
                f"({experience.outcome_status}); start a new experience instead"
            )
        return experience, self._home(record)

    def _after(self, experience: Experience) -> datetime:
        """Return now, or the last change if that is later."""
        return max(self.clock(), experience.updated_at)

    def _store(self, experiences: Sequence[Experience], home: Records) -> None:
        records = [record for each in experiences for record in to_records(each)]
        home.put(records)
        kept = {record.id for record in records}
        possible = [record_id(each.id, axis) for each in experiences for axis in AXES]
        # New records first: an interruption leaves an old axis, never a missing one.
        for stale in home.get(*(each for each in possible if each not in kept)):
            home.delete_where({"ghap_id": stale.fields["ghap_id"], "axis": stale.fields["axis"]})
        for each in experiences:
            _log.debug("experience_stored", ghap_id=each.id, outcome_status=each.outcome_status)


def _ghap_id_of(full: Record) -> str:
    return full.id.removesuffix("/full")


def _refuse_twins(experiences: Sequence[Experience]) -> None:
    seen: set[str] = set()
    for experience in experiences:
        if experience.id in seen:
            raise ExperienceStateError(f"{experience.id} is given twice, nothing was added")
        seen.add(experience.id)


def _without_tier(experience: Experience) -> dict[str, Any]:
    """Return its attributes without the tier.

    A new outcome determines the tier again.
    """
    return {
        attribute.name: getattr(experience, attribute.name)
        for attribute in fields(Experience)
        if attribute.name != "confidence_tier"
    }
