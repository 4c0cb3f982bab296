"""The entities and relations that a set of code files gives.

Entities are the files, what they define for others, and the modules of others that they
import. A function that no other file imports is none: the code source finds it, and here it
would be one of too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import log2

from attrs import evolve, frozen

from contextkit_entities.code_facts import Definition, Files
from contextkit_entities.entity import FROM_CODE, MODULE, Entity
from contextkit_entities.relation import Relation
from contextkit_entities.resolving import Resolver, Target
from contextkit_entities.words import identifier_words, key_of, name_keys

__all__ = ["CodeGraph", "code_graph", "definition_id", "placed"]

_DEFINED_IN, _IMPORTS, _USES = "defined in", "imports", "uses"
_WEIGHTS = {_DEFINED_IN: 0.2, _IMPORTS: 0.35, _USES: 0.4}
_OF_TESTS = 0.5
"""What a test uses says less of how things hang together: tests use everything."""

_LEAST_SALIENCE, _MOST_SALIENCE, _STEP = 0.2, 0.8, 0.1
_FUNCTIONS = frozenset({"function", "method", "macro"})
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._-](?:test|spec)\.|conftest")
_NO_TIME = datetime.fromtimestamp(0, UTC)


@frozen
class CodeGraph:
    """What a set of files gives; the same files give the same.

    Attributes:
        entities: by id.
        relations: by id.
    """

    entities: Mapping[str, Entity]
    relations: Mapping[str, Relation]


def code_graph(files: Files) -> CodeGraph:
    """The entities and relations of some files."""
    resolver = Resolver(files)
    targets = {path: resolver.targets(path) for path in files}
    used = Counter(target for found in targets.values() for target in found)
    entities = {each.id: each for each in _entities(files, used)}
    relations = {each.id: each for each in _relations(files, targets, used, entities)}
    return CodeGraph(entities, relations)


def _entities(files: Files, used: Mapping[Target, int]) -> Iterator[Entity]:
    for path, file in files.items():
        yield _file_entity(path, used.get(Target(path), 0))
        for definition in file.definitions:
            times = used.get(Target(path, definition.name), 0)
            if times or (definition.type not in _FUNCTIONS and not _TEST.search(path)):
                yield _definition_entity(path, definition, times)
    for target, times in used.items():
        if not target.path:
            yield _module_entity(target, times)


def _file_entity(path: str, times: int) -> Entity:
    return Entity(
        id=_id(Target(path)),
        name=path,
        type="file",
        properties=_times("imported by", times),
        keys=_path_keys(path),
        salience=_salience(times),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )


def _definition_entity(path: str, definition: Definition, times: int) -> Entity:
    entity = Entity(
        id=definition_id(path, definition.name),
        name=definition.name,
        type=key_of(definition.type) or "definition",
        properties=_times("used by", times),
        keys=name_keys([definition.name, f"{_stem(path)}.{definition.name}"]),
        salience=_salience(times),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )
    return placed(entity, path, definition)


def placed(entity: Entity, path: str, definition: Definition) -> Entity:
    """A definition's entity with where it is, and what it is for, as its file has it now."""
    about = {"about": definition.summary} if definition.summary else {}
    others = {key: value for key, value in entity.properties.items() if key != "about"}
    location = f"{path}:{definition.line}"
    return evolve(entity, properties={**about, **others}, location=location)


def definition_id(path: str, name: str) -> str:
    """The id of the entity of what a file defines under a name."""
    return _id(Target(path, name))


def _module_entity(target: Target, times: int) -> Entity:
    return Entity(
        id=_id(target),
        name=target.name,
        type=MODULE,
        properties=_times("imported by", times),
        salience=_salience(times),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )


def _relations(
    files: Files,
    targets: Mapping[str, Iterable[Target]],
    used: Mapping[Target, int],
    entities: Mapping[str, Entity],
) -> Iterator[Relation]:
    for path in files:
        for definition in files[path].definitions:
            target = Target(path, definition.name)
            if _id(target) in entities:
                yield _relation(target, _DEFINED_IN, Target(path), 1)
        for target in targets[path]:
            kind = _USES if target.path and target.name else _IMPORTS
            yield _relation(Target(path), kind, target, used[target])


def _relation(source: Target, kind: str, target: Target, times: int) -> Relation:
    weight = _WEIGHTS[kind] / (1 + _magnitude(times) / 8)
    if kind != _DEFINED_IN and _TEST.search(source.path):
        weight *= _OF_TESTS
    return Relation(
        source_id=_id(source),
        target_id=_id(target),
        source=source.name or source.path,
        target=target.name or target.path,
        type=kind,
        weight=round(weight, 3),
        origin=FROM_CODE,
        created_at=_NO_TIME,
    )


def _id(target: Target) -> str:
    if not target.path:
        return f"module:{target.name}"
    return f"code:{target.path}::{target.name}" if target.name else f"code:{target.path}"


def _times(what: str, times: int) -> dict[str, str]:
    """How often, to the nearest power of two below: a new import need not change the record."""
    if not times:
        return {}
    least = 2 ** _magnitude(times)
    return {what: "1 file" if least == 1 else f"{least}+ files"}


def _magnitude(times: int) -> int:
    return int(log2(times)) if times else 0


def _salience(times: int) -> float:
    """More for what more files import, the same for each power of two."""
    found = _LEAST_SALIENCE + _STEP * (_magnitude(times) + 1 if times else 0)
    return round(min(found, _MOST_SALIENCE), 2)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _path_keys(path: str) -> tuple[str, ...]:
    """A file is called by its path or an end of it, with or without the suffix.

    Its bare name is a word like any other, unless it is several.
    """
    parts = path.split("/")
    ends = ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]
    bare = [end.removesuffix("." + end.rpartition(".")[2]) for end in ends[1:]]
    return tuple(dict.fromkeys([*name_keys([*ends, *bare]), *_words_of(_stem(path))]))


def _words_of(name: str) -> list[str]:
    return [words] if (words := identifier_words(name)) else []
