"""Build entities and relations from a set of code files.

Entities are the files, the definitions that others may use, and the external modules that they
import. A function that no other file imports is not an entity: the code source finds it, and here
it would be one of too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from attrs import evolve

from contextkit_entities.code_facts import Definition, Files
from contextkit_entities.entity import FROM_CODE, MODULE, Entity
from contextkit_entities.relation import Relation, relation_id
from contextkit_entities.resolving import Resolved, Target
from contextkit_entities.words import identifier_words, key_of, name_keys

_DEFINED_IN, _IMPORTS, _USES = "defined in", "imports", "uses"
_WEIGHTS = {_DEFINED_IN: 0.2, _IMPORTS: 0.35, _USES: 0.4}
_OF_TESTS = 0.5
"""Weight of a use by a test, because tests use everything."""

_LEAST_SALIENCE, _MOST_SALIENCE, _STEP = 0.2, 0.8, 0.1
_FUNCTIONS = frozenset({"function", "method", "macro"})
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._-](?:test|spec)\.|conftest")
_NO_TIME = datetime.fromtimestamp(0, UTC)


class CodeEntity(NamedTuple):
    """The inputs of a code entity; cheap to compare.

    The entity is a file, a definition or a module.

    Attributes:
        target: the thing that the entity is for.
        uses: how many files import it, in bits: 0, 1 for 1, 2 for 2 or 3, 3 for 4 to 7, …
        definition: the definition, or None.
    """

    target: Target
    uses: int
    definition: Definition | None = None

    @property
    def id(self) -> str:
        """The entity's id."""
        return _id(self.target)

    def made(self) -> Entity:
        """Return the entity."""
        if self.definition is not None:
            return _definition_entity(self.target.path, self.definition, self.uses)
        return (_file_entity if self.target.path else _module_entity)(self.target, self.uses)


class CodeRelation(NamedTuple):
    """The inputs of a relation from code; cheap to compare.

    Attributes:
        source: the thing that it starts from.
        kind: the relation's type.
        target: the thing that it leads to.
        uses: how many files import the target, in bits.
    """

    source: Target
    kind: str
    target: Target
    uses: int

    @property
    def id(self) -> str:
        """The relation's id."""
        return relation_id(_id(self.source), self.kind, _id(self.target), FROM_CODE)

    def made(self) -> Relation:
        """Return the relation."""
        weight = _WEIGHTS[self.kind] / (1 + (self.uses - 1) / 8)
        if self.kind != _DEFINED_IN and _TEST.search(self.source.path):
            weight *= _OF_TESTS
        return Relation(
            source_id=_id(self.source),
            target_id=_id(self.target),
            source=self.source.name or self.source.path,
            target=self.target.name or self.target.path,
            type=self.kind,
            weight=round(weight, 3),
            origin=FROM_CODE,
            created_at=_NO_TIME,
        )


CodeGraph = Mapping[tuple[object, ...], CodeEntity | CodeRelation]
"""Key of an entity or relation -> its inputs.

The same files give the same graph.
"""


def code_graph(files: Files, resolved: Mapping[str, Resolved]) -> CodeGraph:
    """Build the graph of some files, without making its records.

    Comparing two graphs takes a small part of the time that making their records takes.

    Args:
        files: the files.
        resolved: the resolved imports of each file.
    """
    targets = {path: each.targets for path, each in resolved.items()}
    times = Counter(target for found in targets.values() for target in found)
    used = {target: count.bit_length() for target, count in times.items()}
    graph: dict[tuple[object, ...], CodeEntity | CodeRelation] = {}
    for entity in _entities(files, used):
        graph[entity.target] = entity
    for relation in _relations(files, targets, used, graph.keys()):
        graph[relation[:3]] = relation
    return graph


def _entities(files: Files, used: Mapping[Target, int]) -> Iterator[CodeEntity]:
    for path, file in files.items():
        file_target = Target(path)
        yield CodeEntity(file_target, used.get(file_target, 0))
        of_test = _TEST.search(path) is not None
        for definition in file.definitions:
            target = Target(path, definition.name)
            times = used.get(target, 0)
            if times or (definition.type not in _FUNCTIONS and not of_test):
                yield CodeEntity(target, times, definition)
    for target, times in used.items():
        if not target.path:
            yield CodeEntity(target, times)


def _relations(
    files: Files,
    targets: Mapping[str, Iterable[Target]],
    used: Mapping[Target, int],
    entities: Container[object],
) -> Iterator[CodeRelation]:
    for path in files:
        file_target = Target(path)
        for definition in files[path].definitions:
            target = Target(path, definition.name)
            if target in entities:
                yield CodeRelation(target, _DEFINED_IN, file_target, 1)
        for target in targets[path]:
            kind = _USES if target.path and target.name else _IMPORTS
            yield CodeRelation(file_target, kind, target, used[target])


def _file_entity(target: Target, uses: int) -> Entity:
    return Entity(
        id=_id(target),
        name=target.path,
        type="file",
        properties=_times("imported by", uses),
        keys=_path_keys(target.path),
        salience=_salience(uses),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )


def _definition_entity(path: str, definition: Definition, uses: int) -> Entity:
    entity = Entity(
        id=definition_id(path, definition.name),
        name=definition.name,
        type=key_of(definition.type) or "definition",
        properties=_times("used by", uses),
        keys=name_keys([definition.name, f"{_stem(path)}.{definition.name}"]),
        salience=_salience(uses),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )
    return placed(entity, path, definition)


def placed(entity: Entity, path: str, definition: Definition) -> Entity:
    """Update a definition's entity with its current location and summary."""
    about = {"about": definition.summary} if definition.summary else {}
    others = {key: value for key, value in entity.properties.items() if key != "about"}
    location = f"{path}:{definition.line}"
    return evolve(entity, properties={**about, **others}, location=location)


def definition_id(path: str, name: str) -> str:
    """Return the id of a definition's entity."""
    return _id(Target(path, name))


def _module_entity(target: Target, uses: int) -> Entity:
    return Entity(
        id=_id(target),
        name=target.name,
        type=MODULE,
        properties=_times("imported by", uses),
        salience=_salience(uses),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )


def _id(target: Target) -> str:
    if not target.path:
        return f"module:{target.name}"
    return f"code:{target.path}::{target.name}" if target.name else f"code:{target.path}"


def _times(what: str, uses: int) -> dict[str, str]:
    """Return a count, rounded down to a power of two.

    A new import then need not change the record.
    """
    if not uses:
        return {}
    return {what: "1 file" if uses == 1 else f"{2 ** (uses - 1)}+ files"}


def _salience(uses: int) -> float:
    """Return the salience: it grows with each power of two.

    `uses` counts the importing files.
    """
    return round(min(_LEAST_SALIENCE + _STEP * uses, _MOST_SALIENCE), 2)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _path_keys(path: str) -> tuple[str, ...]:
    """Return a file's keys: its path and the path's ends.

    Each is given with and without the suffix. The bare file name is a key only if it has several
    words: otherwise it is a word like any other.
    """
    parts = path.split("/")
    ends = ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]
    bare = [end.removesuffix("." + end.rpartition(".")[2]) for end in ends[1:]]
    return tuple(dict.fromkeys([*name_keys([*ends, *bare]), *_words_of(_stem(path))]))


def _words_of(name: str) -> list[str]:
    return [words] if (words := identifier_words(name)) else []
