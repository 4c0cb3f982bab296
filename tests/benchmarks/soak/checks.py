"""What must hold after a soak: nothing is lost, and nothing is left behind."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from attrs import define

from contextkit.store.shard_folder import STORE_NAMES
from tests.benchmarks.soak.actors import Calls
from tests.benchmarks.soak.place import Place
from tests.benchmarks.soak.watch import Watch

__all__ = ["Ending"]

_SHOWN = 5
_ENDING_SECONDS = 20.0
_USERS = ("a", "b")


@define
class Ending:
    """Stops everything, and looks at what is there.

    Attributes:
        place: where the soak ran.
        calls: what it did.
        watch: knows its processes.
    """

    place: Place
    calls: Calls
    watch: Watch

    def problems(self) -> list[str]:
        """Every problem, as a line."""
        for user in _USERS:
            self.place.run(user, [self.place.script("contextkit"), "serve", "--stop"])
        return [
            *self._orphans(),
            *self._indexed(),
            *self._lost(),
            *self._unsound(),
            *self._leftovers(),
        ]

    def _orphans(self) -> Iterator[str]:
        deadline = time.monotonic() + _ENDING_SECONDS
        while found := [process for process, _ in self.watch.processes()]:
            if time.monotonic() > deadline:
                yield f"processes that did not end: {found}"
                return
            time.sleep(0.1)

    def _indexed(self) -> Iterator[str]:
        """Bring the index up to date; its records are compared with the files."""
        for user in _USERS:
            ran = self.place.run(user, [self.place.script("contextkit"), "index"])
            if ran.returncode:
                yield f"the last index run of {user} failed: {ran.stderr.strip()}"

    def _exported(self) -> tuple[int, list[dict[str, Any]]]:
        file = self.place.folder / "end.jsonl"
        command = [self.place.script("contextkit"), "export", str(file)]
        ran = self.place.run("a", command)
        if ran.returncode:
            raise RuntimeError(f"the last export failed: {ran.stderr.strip()}")
        head, *records = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        return head["records"], records

    def _lost(self) -> Iterator[str]:
        count, records = self._exported()
        if count != len(records):
            yield f"the export has {len(records)} records and says {count}"
        texts = {r["id"]: r["text"] for r in records if r["source"] == "memories"}
        wanted = {k: v for k, v in self.calls.stored.items() if k not in self.calls.forgotten}
        yield from _some("lost memories", [one for one in wanted if one not in texts])
        changed = [one for one, text in wanted.items() if texts.get(one, text) != text]
        yield from _some("memories with another text", changed)
        back = [one for one in self.calls.forgotten if one in texts]
        yield from _some("forgotten memories that are back", back)
        twice = Counter((r["source"], r["project"], r["id"]) for r in records)
        yield from _some("records twice", [key for key, number in twice.items() if number > 1])
        for user in _USERS:
            root = str(self.place.repository(user))
            code = [r for r in records if r["source"] == "code" and r["project"] == root]
            indexed = {record["fields"]["file_path"] for record in code}
            tracked = {file for file in self._files(user) if file.endswith(".py")}
            yield from _some(f"files of {user} without records", sorted(tracked - indexed))
            yield from _some(f"records of {user} without a file", sorted(indexed - tracked))
            old = [r["id"] for r in code if not self._is_current(user, r)]
            yield from _some(f"outdated records of {user}", old)

    def _files(self, user: str) -> list[str]:
        return self.place.git(user, "ls-files").split()

    def _is_current(self, user: str, record: dict[str, Any]) -> bool:
        file = self.place.repository(user) / record["fields"]["file_path"]
        defined = [line for line in record["text"].splitlines() if "default=" in line]
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return all(line.strip() in text for line in defined)

    def _unsound(self) -> Iterator[str]:
        command = [self.place.script("contextkit"), "doctor", "--deep", "--json"]
        ran = self.place.run("a", command)
        for finding in json.loads(ran.stdout or "{}").get("findings", []):
            if finding["state"] == "problem":
                yield f"doctor: {finding['part']}: {finding['text']}"
        if ran.returncode:
            yield f"doctor ended with {ran.returncode}: {ran.stderr.strip()}"

    def _leftovers(self) -> Iterator[str]:
        here = [path.name for path in self.place.store.iterdir()]
        unknown = set(here) - set(STORE_NAMES)
        found = [*unknown.union({"shard.new", "shard.old"}.intersection(here))]
        found += [str(path) for path in (self.place.store / "waiting").glob("*")]
        found += [str(path) for path in (self.place.store / "shard").glob("temp_segments/*")]
        found += [str(path) for path in self.place.temporary.iterdir()]
        for user in _USERS:
            found += [str(path) for path in self.place.home(user).rglob("*.tmp*")]
        yield from _some("left behind", sorted(found))


def _some(what: str, found: list[Any]) -> Iterator[str]:
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"{what}: {', '.join(map(str, found[:_SHOWN]))}{more}"
