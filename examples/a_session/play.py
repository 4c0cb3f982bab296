"""A session of a coding agent, played on a real repository, and the one after it.

A clone of contextkit as it was before a real mistake of its own was mended: the line that says
where else an item was found stood right below the item, and below a table that made it a row.
The agent is played by this script; all else is real: git, the test that fails and then passes,
the `contextkit` commands, the store.

    python examples/a_session/play.py FOLDER

plays it in FOLDER, which is made, and writes the contexts that the agent was given beside this
file. FOLDER may be deleted afterwards.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit import ContextKit

HERE = Path(__file__).parent
MENDED = "908dd37f327ca037852ca84f0f3c6147f1191ac0"
"""The commit that mended it; the session begins at the one before."""

TEST = "tests/core/test_formatting.py"
CODE = "contextkit/formatting.py"
SETTINGS = """\
# A busy machine may take its time, and nothing stays in the background.
[assemble]
source_timeout = 30
deadline = 60
max_tokens = 1200

[hooks]
timeout = 30
max_tokens = 1200
resident = false
"""
WAITS = 200
"""How often the log is looked at for an event that was just reported."""


@define
class Player:
    """What the agent and its user do, each as a command or an event of the agent's hooks.

    Attributes:
        root: the folder of the clone.
        home: contextkit's folder for this session.
        contexts: name -> the context that the agent was given there.
        events: how many were reported that are logged.
    """

    root: Path
    home: Path
    contexts: dict[str, str] = field(factory=dict)
    events: int = 0

    @property
    def store(self) -> dict[str, str]:
        """Where this process finds what the commands stored."""
        return {"store.path": str(self.home / "store")}

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of this machine's own settings; the contextkit that is installed."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("CONTEXTKIT_", "GIT_"))}
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
        }
        return {
            # Until a hook has read its settings, which a busy machine may be slow at.
            "CONTEXTKIT_HOOKS_TIMEOUT": "30",
            **own,
            **who,
            "CONTEXTKIT_HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHONPATH": "",
            # The clone is what is worked on, and not what works.
            "PYTHONSAFEPATH": "1",
        }

    def contextkit(self, *arguments: str, given: str = "") -> str:
        """Run a `contextkit` command; what it prints."""
        return self._run([sys.executable, "-m", "contextkit.cli", *arguments], given).stdout.strip()

    def git(self, *arguments: str) -> str:
        """Run git in the clone."""
        return self._run(["git", *arguments]).stdout.strip()

    def test(self) -> tuple[int, str]:
        """Run the clone's own test; its exit code and what it printed."""
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", TEST]
        ran = subprocess.run(
            command,
            cwd=self.root,
            env={**self.environment, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout

    def _run(self, command: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {ran.stderr}")
        return ran

    def event(self, session: str, name: str, **parts: Any) -> str:
        """Report an event as an agent's hook does, and wait until it is in the log."""
        event = {"session_id": session, "cwd": str(self.root), "hook_event_name": name, **parts}
        answer = self.contextkit("hook", "--format", "text", given=json.dumps(event))
        if name != "SessionStart":
            self.events += 1
            self._wait_for_the_log()
        return answer

    def _wait_for_the_log(self) -> None:
        """The plugins are told after the answer, by a process that nobody waits for."""
        for _ in range(WAITS):
            with ContextKit.open(self.root, settings=self.store, models=False) as kit:
                info = kit.registry.info("events")
                if kit.records("events").count(info.count_filters) >= self.events:
                    return
            time.sleep(0.1)
        raise SystemExit("an event that was reported is not in the log")


def play(source: Path, folder: Path) -> Mapping[str, str]:
    """Play both sessions.

    Args:
        source: a repository that has the commit `MENDED`.
        folder: where the clone and contextkit's folder are made.

    Returns:
        The name of each context -> its text.
    """
    player = Player(folder / "contextkit", folder / "home")
    player.home.mkdir(parents=True)
    (player.home / "config.toml").write_text(SETTINGS, encoding="utf-8")
    subprocess.run(
        ["git", "clone", "--quiet", "--no-checkout", str(source), str(player.root)], check=True
    )
    player.git("checkout", "--quiet", "-b", "session", f"{MENDED}^")
    _before(player)
    _first_session(player)
    _second_session(player)
    return player.contexts


def _before(player: Player) -> None:
    """What was known already: one experience, and what the repository tells."""
    player.contextkit("index")
    earlier = {
        "domain": "testing",
        "strategy": "trial-and-error",
        "goal": "keep an item's note out of its code fence",
        "hypothesis": "one line end before the note is enough",
        "action": "write the note on the next line",
        "prediction": "a parser sees a paragraph",
        "outcome_status": "falsified",
        "outcome_result": "the note became part of the block above it",
        "surprise": "a line right below a quote goes on with the quote",
        "root_cause": "Markdown lets a line continue the block above it",
        "lesson": {"what_worked": "ask a real parser what a text becomes"},
    }
    player.contextkit("experience", "add", "--file", "-", given=json.dumps(earlier))


def _first_session(player: Player) -> None:
    session = "first"
    asked = (
        "An item that ends in a table shows the line 'Also in: ...' as one more row of that "
        "table. Where is that line made, and how do we keep it out?"
    )
    player.contexts["1-start"] = player.event(session, "SessionStart", source="startup")
    player.contexts["2-asked"] = player.event(session, "UserPromptSubmit", prompt=asked)

    player.contextkit("task", "push", "Keep the credit out of tables", "--session", session)
    player.contextkit("task", "push", "Find where the credit is made", "--session", session)
    _used(player, session, "Read", {"file_path": CODE})
    player.contextkit("task", "pop", f"_credit in {CODE} makes it", "--session", session)
    player.contextkit(
        *("task", "push", "Separate the credit by an empty line", "--session", session),
        *("--detail", f"the test is in {TEST}"),
    )

    player.git("checkout", "--quiet", MENDED, "--", TEST)
    _used(player, session, "Edit", {"file_path": TEST})
    _tested(player, session, passes=False)
    player.contexts["3-premortem"] = player.contextkit("premortem", "testing")
    ghap = player.contextkit(
        *("experience", "start", "--domain", "testing", "--strategy", "read-the-error"),
        *("--goal", "keep the credit out of tables"),
        *("--hypothesis", "an empty line before the credit ends the table"),
        *("--action", "begin the credit with two line ends"),
        *("--prediction", "the test passes, and no other fails"),
    )
    player.contexts["4-task"] = player.contextkit("task", "context", "--session", session)

    player.git("checkout", "--quiet", MENDED, "--", CODE)
    _used(player, session, "Edit", {"file_path": CODE})
    _tested(player, session, passes=True)
    player.git("commit", "--quiet", "-m", "Separate the credit from a table by an empty line")
    player.contextkit(
        *("experience", "resolve", _id_in(ghap), "--status", "confirmed"),
        *("--result", "all tests of the module pass"),
        *("--root-cause", "a line right below a table is a row of it"),
        *("--what-worked", "an empty line ends every block of Markdown"),
    )
    player.contextkit(
        *("remember", "What follows an item in Markdown begins with an empty line"),
        *("--category", "decision", "--importance", "0.8"),
    )
    player.contextkit("task", "pop", "Two line ends before the credit", "--session", session)
    player.contextkit("task", "pop", "Mended, with a test", "--session", session)


def _second_session(player: Player) -> None:
    session = "second"
    player.contextkit("index")
    player.contexts["5-next-start"] = player.event(session, "SessionStart", source="startup")
    asked = "Is a note that follows a table safe from becoming a row of it, and since when?"
    player.contexts["6-next-asked"] = player.event(session, "UserPromptSubmit", prompt=asked)


def _used(player: Player, session: str, tool: str, given: Mapping[str, Any]) -> None:
    path = str(player.root / given["file_path"])
    player.event(
        session,
        "PostToolUse",
        tool_name=tool,
        tool_use_id=f"{tool}-{given['file_path']}",
        tool_input={**given, "file_path": path},
        tool_response={"filePath": path},
    )


def _tested(player: Player, session: str, *, passes: bool) -> None:
    """Run the test and report that.

    A failure is answered with a premortem, here with nothing: all that is known of testing
    was shown when the session began.
    """
    code, printed = player.test()
    if (code == 0) is not passes:
        raise SystemExit(f"the test was to {'pass' if passes else 'fail'}: {printed}")
    what = {"tool_name": "Bash", "tool_input": {"command": f"pytest -q {TEST}"}}
    if passes:
        player.event(session, "PostToolUse", tool_response={"stdout": printed}, **what)
        return
    failure = {"error": f"Exit code {code}\n{printed}", "is_interrupt": False}
    player.event(session, "PostToolUseFailure", **failure, **what)


def _id_in(printed: str) -> str:
    found = re.search(r"ghap_\w+", printed)
    if found is None:
        raise SystemExit(f"no experience was begun: {printed}")
    return found[0]


def recorded(text: str) -> str:
    """A context without what is different each time: moments, ids, delimiters."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME", text)
    text = re.sub(r"\b(ghap|mem|evt|task)_[0-9a-z]+", r"\1_ID", text)
    return re.sub(r"reference-[0-9a-f]+", "reference-ID", text).rstrip() + "\n"


def main() -> None:
    """Play in the folder that is named, and write the contexts beside this file."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/a_session/play.py FOLDER")
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)
    for name, context in play(HERE.parents[1], folder).items():
        (HERE / f"{name}.md").write_text(recorded(context), encoding="utf-8")
        print(f"{name}.md: {len(context)} characters")


if __name__ == "__main__":
    main()
