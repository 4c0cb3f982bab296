"""Read the servers' resources into records."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp import Client
from mcp.types import Resource, TextResourceContents

from contextkit import Indexer, IndexReport, Record
from contextkit.errors import in_words
from contextkit_mcp_source.connections import connections
from contextkit_mcp_source.servers import Server, servers_of

_SECONDS = 60.0
_LONGEST = 200_000
"""Characters of a resource that are kept."""

_Known = Mapping[str, str]
"""Record id -> the checksum of the record."""


def read_resources(indexer: Indexer) -> IndexReport:
    """Store the resources of all servers, unless that was done within `refresh_minutes`.

    A server that does not answer keeps its records, and the report says why.
    """
    servers = servers_of(indexer.settings)
    state = indexer.state.load()
    known: dict[str, _Known] = state.get("known", {})
    asked_for = sorted(f"{each.name}: {each.target}" for each in servers)
    due = state.get("at", 0.0) + 60 * indexer.settings.get("refresh_minutes", 60)
    if asked_for == state.get("servers") and time.time() < due:
        return IndexReport(unchanged=sum(map(len, known.values())))

    most = indexer.settings.get("resources", 200)
    found, skipped = _read_all(servers, most)
    kept = {each.name: known.get(each.name, {}) for each in servers if each.name not in found}
    now = {name: {id_: _checksum(of) for id_, of in read.items()} for name, read in found.items()}
    report = _store(indexer, found, known, {**kept, **now}, skipped)
    indexer.state.save({"servers": asked_for, "at": time.time(), "known": {**kept, **now}})
    return report


def _store(
    indexer: Indexer,
    found: Mapping[str, Mapping[str, Record]],
    known: Mapping[str, _Known],
    now: Mapping[str, _Known],
    skipped: list[tuple[str, str]],
) -> IndexReport:
    before = {id_: sum_ for each in known.values() for id_, sum_ in each.items()}
    after = {id_: sum_ for each in now.values() for id_, sum_ in each.items()}
    changed = [
        record
        for read in found.values()
        for id_, record in read.items()
        if before.get(id_) != after[id_]
    ]
    gone = [id_ for id_ in before if id_ not in after]
    if changed:
        indexer.records.put(changed)
    if gone:
        indexer.records.delete(*gone)
    added = sum(record.id not in before for record in changed)
    return IndexReport(
        added=added,
        updated=len(changed) - added,
        removed=len(gone),
        unchanged=len(after) - len(changed),
        skipped=skipped,
    )


def _read_all(
    servers: list[Server], most: int
) -> tuple[dict[str, dict[str, Record]], list[tuple[str, str]]]:
    """Return the records of each server that answered, and the others with a reason."""
    asked = [connections.start(each, partial(_read, each, most), _SECONDS) for each in servers]
    found: dict[str, dict[str, Record]] = {}
    skipped: list[tuple[str, str]] = []
    for server, answer in zip(servers, asked, strict=True):
        try:
            found[server.name] = answer.result()
        except Exception as error:  # noqa: BLE001 - a server may fail in any way
            skipped.append((server.name, in_words(error)))
    return found, skipped


async def _read(server: Server, most: int, client: Client) -> dict[str, Record]:
    if client.server_capabilities.resources is None:
        return {}
    records = {}
    for resource in await _listed(client, most):
        contents = (await client.read_resource(resource.uri)).contents
        texts = [each.text for each in contents if isinstance(each, TextResourceContents)]
        if text := "\n\n".join(texts)[:_LONGEST].strip():
            record = _record(server, resource, text)
            records[record.id] = record
    return records


async def _listed(client: Client, most: int) -> list[Resource]:
    page = await client.list_resources()
    found = list(page.resources)
    while page.next_cursor and len(found) < most:
        page = await client.list_resources(cursor=page.next_cursor)
        found += page.resources
    return found[:most]


def _record(server: Server, resource: Resource, text: str) -> Record:
    title = resource.title or resource.name
    fields: dict[str, Any] = {"server": server.name, "uri": str(resource.uri), "title": title}
    return Record(id=f"{server.name}:{resource.uri}", text=text, fields=fields)


def _checksum(record: Record) -> str:
    return hashlib.sha256(f"{record.fields}{record.text}".encode()).hexdigest()[:16]
