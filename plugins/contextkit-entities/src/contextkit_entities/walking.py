"""Walk from entities along their relations, breadth first.

The store is the graph: the ends of relations are indexed, and each depth is one query to it, for
the relations of all entities that the previous one reached.
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
"""Factor for each further step of a walk."""


@frozen(kw_only=True)
class Bounds:
    """Limits of a walk.

    Attributes:
        depth: 1 for the relations of the entities themselves, 2 for those of what these lead
            to, and so on; 0 for none.
        entities: the most entities visited, including the starts.
        read: the most relations read for each depth; of more, those of highest weight.
        hub: the most relations of an entity that the walk continues from, unless it is a start: a
            hub says little about how its neighbours relate to each other.
        least: the least score of a relation.
        enough: the most relations wanted. The walk stops where all that it could still find scores
            less than `least`, or than `enough` relations already found.
    """

    depth: int = 2
    entities: int = 100
    read: int = 400
    hub: int = 30
    least: float = 0.0
    enough: int = 1_000_000

    def floor(self, steps: Iterable[Step]) -> float:
        """Return the score a relation must reach beside these."""
        best = nlargest(self.enough, (step.score for step in steps))
        return max(self.least, best[-1]) if len(best) == self.enough else self.least


@frozen
class Step:
    """A relation reached by a walk.

    Attributes:
        relation: the relation.
        depth: 1 for a relation of a start.
        strength: the fit of its start, times the weight of each relation on the way, halved for
            each depth after the first.
    """

    relation: Relation
    depth: int
    strength: float

    @property
    def score(self) -> float:
        """Return its score relative to the starts, 0..1."""
        return self.relation.weight * self.strength


def walk(
    records: RecordsView, starts: Mapping[str, float], bounds: Bounds | None = None
) -> list[Step]:
    """Return the relations around some entities, best first.

    Each appears once, at its smallest depth.

    Args:
        records: the records of the source `entities`.
        starts: entity id -> its fit to the question, 0..1.
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
    """Return relations of these entities, limited by weight.

    Of copies of one relation, that made by hand is used for all, and of those the project's.
    """
    filters = {"ends": list(entities)}
    found = [Relation.from_record(record) for record in _weightiest(records, filters, most)]
    found.sort(key=lambda each: (each.origin == BY_HAND, each.project == records.project, each.id))
    return list({relation.triple: relation for relation in found}.values())


def _weightiest(records: RecordsView, filters: Filters, most: int) -> list[Record]:
    """Return matching relations' records, or those of highest weight.

    Weights are compared to a tenth.
    """
    # Counting only the heavy ones is cheaper, and often enough for a hub.
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
