"""The eight processes of a soak, each with a thread that starts its calls."""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.benchmarks.soak.place import Place

__all__ = ["Actors", "Calls"]

_WORKER = Path(__file__).with_name("kit_worker.py")
_FORGOTTEN_EVERY = 4
_ENDING_SECONDS = 300.0


@define
class Calls:
    """What was called, what failed, and what must be in the store.

    Attributes:
        seconds: call -> how long each took.
        failed: what was wrong with each failed call.
        answered: the prompts of agents that got a context.
        stored: id -> text of each acknowledged memory.
        forgotten: the ids of those that were deleted.
    """

    seconds: defaultdict[str, list[float]] = field(factory=lambda: defaultdict(list))
    failed: list[str] = field(factory=list)
    answered: int = 0
    stored: dict[str, str] = field(factory=dict)
    forgotten: set[str] = field(factory=set)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)

    def note(self, call: str, seconds: float, wrong: str = "") -> None:
        """Count a call."""
        with self._turn:
            self.seconds[call].append(seconds)
            if wrong:
                self.failed.append(f"{call}: {wrong}")

    def store(self, memory: str, text: str) -> None:
        """Remember an acknowledged memory."""
        with self._turn:
            self.stored[memory] = text

    def forget(self, memory: str) -> None:
        """Remember an acknowledged deletion."""
        with self._turn:
            self.forgotten.add(memory)

    def count_answer(self, answered: bool) -> None:
        """Count a prompt that was answered."""
        with self._turn:
            self.answered += answered


@define
class Actors:
    """The eight processes.

    Attributes:
        place: where they work.
        calls: what they did.
        over: set when they shall end; each does one round of its calls at least.
    """

    place: Place
    calls: Calls = field(factory=Calls)
    over: threading.Event = field(factory=threading.Event)
    _threads: list[threading.Thread] = field(factory=list, init=False)

    def start(self) -> None:
        """Start all of them."""
        for name in ("a", "b"):
            self._begin(self._keep_a_kit, name)
            self._begin(self._repeat(self._agent, name))
        self._begin(self._repeat(self._ask))
        self._begin(self._repeat(self._remember))
        self._begin(self._repeat(self._index))
        self._begin(self._repeat(self._maintain))

    def end(self) -> None:
        """Let the running calls end."""
        self.over.set()
        for thread in self._threads:
            thread.join(_ENDING_SECONDS)
            if thread.is_alive():
                self.calls.note(thread.name, _ENDING_SECONDS, "did not end")

    def _begin(self, work: Callable[..., None], *arguments: str) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _repeat(self, act: Callable[..., None], *arguments: str) -> Callable[[], None]:
        def work() -> None:
            for number in itertools.count():
                try:
                    act(number, *arguments)
                except Exception as error:  # noqa: BLE001 - a benchmark's own mistake counts too
                    self.calls.note(act.__name__.strip("_"), 0.0, repr(error))
                if self.over.is_set():
                    return

        return work

    def _call(self, name: str, *arguments: str) -> str:
        """Run a command of the command line; return what it printed."""
        return self._run(arguments[0], name, [self.place.script("contextkit"), *arguments])

    def _run(self, call: str, name: str, command: list[str], given: str = "") -> str:
        began = time.monotonic()
        ran = self.place.run(name, command, given)
        said = " ".join(ran.stderr.split())
        wrong = ""
        if ran.returncode or "Traceback" in said or "still in use" in said:
            wrong = f"exit code {ran.returncode}: {said or ran.stdout[-400:]}"
        self.calls.note(call, time.monotonic() - began, wrong)
        return "" if wrong else ran.stdout

    # -- what they do ---------------------------------------------------------------------

    def _ask(self, number: int) -> None:
        name = "ab"[number % 2]
        self._call(name, "assemble", f"how is the cache of shard {number % 50} warmed?")
        self._call(name, "memories", "search", f"cold cache of shard {number}")

    def _remember(self, number: int) -> None:
        name = "ab"[number % 2]
        text = f"the soak noted {number}: shard {number * 7919 % 1000} was warmed twice"
        if said := self._call(name, "remember", "--json", text):
            memory = json.loads(said)["id"]
            self.calls.store(memory, text)
            forget = number % _FORGOTTEN_EVERY == 0
            if forget and self._call(name, "memories", "forget", "--json", memory):
                self.calls.forget(memory)

    def _index(self, number: int) -> None:
        changed = [(number * 7 + each) % self.place.files for each in range(1 + number % 10)]
        for each in changed:
            self.place.write("a", each, number + 1)
        self.place.commit("a", f"Warm {len(changed)} shards, round {number}")
        self._call("a", "index")

    def _maintain(self, number: int) -> None:
        self.place.write("b", number % self.place.files, number + 1)
        self.place.commit("b", f"Change part {number % self.place.files}")
        self._call("b", "index")
        self._call("b", "prune")
        self._call("b", "export", str(self.place.folder / "export.jsonl"))
        self._call("b", "doctor", *(["--deep"] if number % 3 == 0 else []))

    def _agent(self, number: int, name: str) -> None:
        hook = [self.place.script("contextkit-hook")]
        session = f"{name}-{number}"
        shard = number % self.place.files
        prompts = (f"why is shard {shard} cold?", f"where is the cache of shard {shard} warmed?")
        events: list[dict[str, Any]] = [
            {"hook_event_name": "SessionStart", "source": "startup"},
            *({"hook_event_name": "UserPromptSubmit", "prompt": prompt} for prompt in prompts),
            {"hook_event_name": "PostToolUse", "tool_input": {"command": "ls"}},
        ]
        for event in events:
            place = {"session_id": session, "cwd": str(self.place.repository(name))}
            kind = event["hook_event_name"]
            answer = self._run(f"hook {kind}", name, hook, json.dumps({**place, **event}))
            self.calls.count_answer("prompt" in event and bool(answer.strip()))

    def _keep_a_kit(self, name: str) -> None:
        process = subprocess.Popen(
            [str(self.place.python), str(_WORKER), str(self.place.repository(name)), f"kit-{name}"],
            cwd=self.place.repository(name),
            env=self.place.environment(name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            threading.Thread(target=self._end_kit, args=(process,), daemon=True).start()
            assert process.stdout
            for line in process.stdout:
                self._hear(json.loads(line))
        if process.returncode:
            self.calls.note("kit", 0.0, f"exit code {process.returncode}")

    def _end_kit(self, process: subprocess.Popen[str]) -> None:
        self.over.wait()
        assert process.stdin
        process.stdin.close()

    def _hear(self, said: dict[str, Any]) -> None:
        self.calls.note(f"kit: {said['call']}", said["seconds"], said.get("failed", ""))
        if "stored" in said:
            self.calls.store(said["stored"], said["text"])
        if "forgotten" in said:
            self.calls.forget(said["forgotten"])
