"""A process of its own for the tests: `python worker.py MODE STORE [ARGUMENTS]`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.models.record import Record, Search
from contextkit.store.base import stored_batch
from contextkit.store.embedded import EmbeddedStore
from contextkit.testing import HashingModel


def hashing() -> OneEmbedder:
    """The same for every source."""
    return OneEmbedder(ModelEmbedder("hash", lambda: HashingModel(256), timeout=None))


def note(name: str) -> Record:
    """A record that says its name."""
    return Record(id=name, text=f"note {name} of many", source="notes", project="p")


def say(*words: object) -> None:
    """Tell the test; one write, so that a kill leaves no half of a line."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, words)) + "\n").encode())


def busy(store: EmbeddedStore, name: str, times: str) -> None:
    """Write and search in turns, for as many times."""
    say("ready")
    sys.stdin.readline()
    for n in range(int(times)):
        store.put([note(f"{name}-{n}")])
        [hits] = store.search([Search(query=f"note {name}", source="notes", projects=("p",))])
        if not hits:
            say("nothing found")
    say("done")


def holder(store: EmbeddedStore) -> None:
    """Open the store and keep it, idle, until the test says so."""
    store.put([note("held")])
    say("ready")
    sys.stdin.readline()


def holding(store: EmbeddedStore) -> None:
    """Keep the store within a hold until the test says so."""
    with store.hold():
        say("ready")
        sys.stdin.readline()


def nursery(store: EmbeddedStore, rounds: str) -> None:
    """Fork one writer after the other; the test kills each."""
    # Loaded once, for all of them.
    stored_batch([note("warm")], store.embedders.of("notes"))
    for turn in range(int(rounds)):
        if os.fork() == 0:
            write_for_ever(store, str(turn))
        os.wait()
        say("gone")


def write_for_ever(store: EmbeddedStore, name: str) -> None:
    """Write small and large batches, say which are stored, now and then close."""
    say("pid", os.getpid())
    written = 0
    while True:
        size = 40 if written % 7 == 3 else 1
        store.put([note(f"{name}-{written}-{n}") for n in range(size)])
        say("stored", f"{name}-{written}", size)
        written += 1
        if written % 11 == 0:
            store.close()


def late(store: EmbeddedStore) -> None:
    """Use the store once."""
    store.put([note("late")])
    say("done")


def forking(store: EmbeddedStore) -> None:
    """Fork with the store open; use it on both sides while the child lives."""
    store.put([note("before")])
    if (child := os.fork()) == 0:
        store.put([note("child")])
        say("child", store.count(None, None, {}))
        sys.stdin.readline()
        os._exit(0)
    store.put([note("parent")])
    say("parent", store.count(None, None, {}))
    os.waitpid(child, 0)
    say("done", store.count(None, None, {}))


def forking_in_hold(store: EmbeddedStore) -> None:
    """Fork within a hold."""
    with store.hold():
        store.prepare()
    hold = store.hold()
    hold.__enter__()
    threading.Thread(target=lambda: hold.__exit__(None, None, None)).start()
    forking(store)


MODES: dict[str, Callable[..., None]] = {
    "busy": busy,
    "holder": holder,
    "holding": holding,
    "nursery": nursery,
    "late": late,
    "forking": forking,
    "forking_in_hold": forking_in_hold,
}

if __name__ == "__main__":
    mode, path, *arguments = sys.argv[1:]
    store = EmbeddedStore(Path(path), hashing(), lock_timeout=60.0, idle_seconds=3600.0)
    MODES[mode](store, *arguments)
