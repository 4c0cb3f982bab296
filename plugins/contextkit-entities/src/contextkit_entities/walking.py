"""Walking from entities along their relations, breadth first, over the store.

The store is the graph: the ends of relations are indexed, and each depth is one question to it
for the relations of all entities that the last one reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest
from itertools import islice

from attrs import frozen

from contextkit import Record, RecordsView
from contextkit.models import Filters
from contextkit_entities.entity import BY_HAND
from contextkit_entities.relation import BANDS, Relation

_HEAVY = list(BANDS[:2])

DECAY = 0.5
"""What a relation one step farther away is worth beside one of the same weight."""


@frozen(kw_only=True)
class Bounds:
    """How far a walk goes.

    Attributes:
        depth: 1 for the relations of the entities themselves, 2 for those of what these lead
            to, and so on; 0 for none.
        entities: so many are looked at, those that it starts from included.
        read: so many relations are read for each depth, the weightiest where there are more.
        hub: an entity with more relations than this, that is no start, says little of how its
            neighbours stand to each other: the walk does not go on from it.
        least: a score below which a relation is not wanted.
        enough: so many relations are wanted. The walk does not go where all that it could
            find is worth less than `least`, or than so many that it has.
    """

    depth: int = 2
    entities: int = 100
    read: int = 400
    hub: int = 30
    least: float = 0.0
    enough: int = 1_000_000

    def floor(self, steps: Iterable[Step]) -> float:
        """What a relation's score must reach to be wanted beside these."""
        best = nlargest(self.enough, (step.score for step in steps))
        return max(self.least, best[-1]) if len(best) == self.enough else self.least


@frozen
class Step:
    """A relation that a walk came along.

    Attributes:
        relation: the relation.
        depth: 1 for a relation of a start.
        strength: the fit of the start that it was reached from, times the weight of each
            relation on the way, halved for each depth behind the first.
    """

    relation: Relation
    depth: int
    strength: float

    @property
    def score(self) -> float:
        """How much it says of where the walk began, 0..1."""
        return self.relation.weight * self.strength


def walk(
    records: RecordsView, starts: Mapping[str, float], bounds: Bounds | None = None
) -> list[Step]:
    """The relations around some entities, each once, at its smallest depth, best first.

    Args:
        records: the records of the source `entities`.
        starts: entity id -> how well it fits the question, 0..1.
        bounds: how far to go.
    """
    bounds = bounds or Bounds()
    reached = dict(islice(_strongest(starts), bounds.entities))
    frontier, steps = dict(reached), dict[tuple[str, str, str], Step]()
    for depth in range(1, bounds.depth + 1):
        if not frontier:
            break
        found = _relations_of(records, frontier, bounds.read)
        if depth > 1:
            found = _without_hubs(found, frontier, bounds.hub)
        following: dict[str, float] = {}
        for relation in found:
            ends = (relation.source_id, relation.target_id)
            near = max((end for end in ends if end in frontier), key=frontier.__getitem__)
            steps.setdefault(relation.triple, Step(relation, depth, frontier[near]))
            for end in ends:
                strength = frontier[near] * relation.weight * DECAY
                if end not in reached and strength > following.get(end, -1.0):
                    following[end] = strength
        floor = bounds.floor(steps.values())
        worth = {end: strength for end, strength in following.items() if strength >= floor}
        frontier = dict(islice(_strongest(worth), bounds.entities - len(reached)))
        reached |= frontier
    return sorted(steps.values(), key=lambda step: (-step.score, step.depth, step.relation.id))


def _strongest(entities: Mapping[str, float]) -> Iterable[tuple[str, float]]:
    return iter(sorted(entities.items(), key=lambda entry: (-entry[1], entry[0])))


def _relations_of(records: RecordsView, entities: Mapping[str, float], most: int) -> list[Relation]:
    """The relations that one of these is an end of, the weightiest where they are more.

    Of one that there is several times, that made by hand stands for all, and the project's.
    """
    filters = {"ends": list(entities)}
    found = [Relation.from_record(record) for record in _weightiest(records, filters, most)]
    found.sort(key=lambda each: (each.origin == BY_HAND, each.project == records.project, each.id))
    return list({relation.triple: relation for relation in found}.values())


def _weightiest(records: RecordsView, filters: Filters, most: int) -> list[Record]:
    """The records of relations that match, or the weightiest of them to a tenth."""
    # To count the heavy ones alone is cheaper, and of a hub it often says enough.
    if all(records.count(each) <= most for each in ({**filters, "band": _HEAVY}, filters)):
        return list(islice(records.scan(filters), most))
    found: list[Record] = []
    for band in BANDS:
        found += islice(records.scan({**filters, "band": band}), most - len(found))
        if len(found) == most:
            return found
    # Records made by others may have no band.
    known = {(record.project, record.id) for record in found}
    others = (each for each in records.scan(filters) if (each.project, each.id) not in known)
    return [*found, *islice(others, most - len(found))]


def _without_hubs(
    relations: Iterable[Relation], frontier: Mapping[str, float], hub: int
) -> list[Relation]:
    relations = list(relations)
    degrees = Counter(
        end for each in relations for end in {each.source_id, each.target_id} & frontier.keys()
    )
    hubs = {end for end, degree in degrees.items() if degree > hub}
    passable = frontier.keys() - hubs
    return [each for each in relations if {each.source_id, each.target_id} & passable]
