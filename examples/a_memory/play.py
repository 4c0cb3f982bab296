"""A memory through the life of a project: what an agent reads at each step.

A project is worked on in two work trees and, on another computer, in a clone. Past sessions of an
agent are imported, facts change, and a file is renamed. The agent and its transcript are played by
this script; all else is real: git, the `contextkit` commands, the stores. The other computer is
another home folder, and the server between the two is a bare repository in a folder.

    python examples/a_memory/play.py FOLDER

plays it in FOLDER, which is made, and writes the contexts that the agent got beside this file.
FOLDER may be deleted afterwards.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from attrs import define, evolve, field

HERE = Path(__file__).parent
SETTINGS = """\
# A busy machine may take its time, and nothing stays in the background.
[assemble]
source_timeout = 30
deadline = 60
max_tokens = 800

[hooks]
resident = false
"""
RETRIES = '''\
"""Retries of the payment gateway."""

MOST_RETRIES = 3


def charge_with_retries(gateway, amount):
    """Charge an amount, and try again after a gateway's time-out."""
    for attempt in range(MOST_RETRIES):
        if gateway.charge(amount, attempt):
            return True
    return False
'''
TODAY = f"{datetime.now(UTC):%Y-%m-%d}"
SESSION = [
    ("user", "The gateway times out on Fridays, and then we charge twice. What do we do?"),
    (
        "assistant",
        "Decision: retries of a charge carry an idempotency key, and after three retries the "
        "order goes to the queue `late-charges`.",
    ),
    ("user", "Good. Ada watches that queue every morning."),
]
"""What was said in March, before contextkit was installed."""


@define
class Place:
    """A folder on one of the computers, and the commands that are run there.

    Attributes:
        root: the folder.
        home: contextkit's folder on that computer.
        contexts: name -> the context that the agent got, in all places.
    """

    root: Path
    home: Path
    contexts: dict[str, str] = field(factory=dict)

    def contextkit(self, *arguments: str) -> str:
        """Run a `contextkit` command; what it prints."""
        return self._run([sys.executable, "-m", "contextkit.cli", *arguments])

    def git(self, *arguments: str) -> str:
        """Run git; what it prints."""
        return self._run(["git", *arguments])

    def ask(self, name: str, question: str, *options: str) -> None:
        """Assemble the context for a question, and keep it under a name."""
        self.contexts[name] = self.contextkit("assemble", question, *options)

    def at(self, root: Path) -> Place:
        """The same computer, in another folder."""
        return evolve(self, root=root)

    def _run(self, command: list[str]) -> str:
        own = {k: v for k, v in os.environ.items() if not k.startswith(("CONTEXTKIT_", "GIT_"))}
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (
                ("NAME", "Ada"),
                ("EMAIL", "ada@example.org"),
                ("DATE", "2026-02-02T10:00:00Z"),
            )
        }
        given = {
            "CONTEXTKIT_HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        ran = subprocess.run(
            command,
            cwd=self.root,
            env={**own, **who, **given},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {ran.stderr}")
        return ran.stdout.strip()


def play(folder: Path) -> Mapping[str, str]:
    """Play the whole life.

    Args:
        folder: where the computers, the server and the repositories are made.

    Returns:
        The name of each context -> its text.
    """
    first = _computer(folder / "first")
    _begin(first, folder / "server.git")
    _import_the_past(first)
    tree = _work_in_two_trees(first)
    _change_facts(first, tree)
    _rename_a_file(tree)
    _go_to_another_computer(first, folder)
    return first.contexts


def _computer(folder: Path) -> Place:
    home, root = folder / "home", folder / "shop"
    home.mkdir(parents=True)
    root.mkdir()
    (home / "config.toml").write_text(SETTINGS, encoding="utf-8")
    return Place(root, home)


def _begin(first: Place, server: Path) -> None:
    """A small project with a server to push to."""
    first.git("init", "--quiet", "--bare", "--initial-branch", "main", str(server))
    first.git("init", "--quiet", "--initial-branch", "main")
    first.git("remote", "add", "origin", str(server))
    (first.root / "payments").mkdir()
    (first.root / "payments" / "retry.py").write_text(RETRIES, encoding="utf-8")
    _commit(first, "Retry charges")


def _commit(place: Place, message: str) -> None:
    place.git("add", "--all")
    place.git("commit", "--quiet", "-m", message)
    place.git("push", "--quiet", "origin", "HEAD:main")


def _import_the_past(first: Place) -> None:
    """What was said before contextkit was installed is known afterwards."""
    transcripts = first.home / "claude" / "projects" / "shop"
    transcripts.mkdir(parents=True)
    lines = []
    for number, (role, text) in enumerate(SESSION):
        content = text if role == "user" else [{"type": "text", "text": text}]
        lines.append(
            {
                "cwd": str(first.root),
                "sessionId": "march",
                "version": "2.1.63",
                "type": role,
                "uuid": f"march-{number}",
                "parentUuid": f"march-{number - 1}" if number else None,
                "isSidechain": False,
                "timestamp": f"2026-03-13T09:0{number}:00.000Z",
                "message": {"role": role, "content": content},
            }
        )
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (transcripts / "march.jsonl").write_text(text, encoding="utf-8")
    first.contextkit("import", "claude-code")
    first.ask("1-what-was-said", "What did we decide about charging twice?")


def _work_in_two_trees(first: Place) -> Place:
    """What is noted in one work tree is known in the other."""
    first.contextkit(
        *("remember", "Orders are stored in Postgres 14", "--valid-from", "2026-01-10"),
        *("--category", "decision"),
    )
    first.contextkit(
        "remember", "`MOST_RETRIES` in payments/retry.py is 3, as the gateway blocks after 5"
    )
    tree = first.at(first.root.parent / "shop-fix")
    first.git("worktree", "add", "--quiet", str(tree.root), "-b", "fix")
    tree.ask("2-in-another-work-tree", "Which database has the orders?")
    return tree


def _change_facts(first: Place, tree: Place) -> None:
    """A fact that changes is replaced, and the past can still be asked for."""
    listed = json.loads(first.contextkit("memories", "list", "--json"))
    old = next(each["id"] for each in listed if "Postgres" in each["text"])
    tree.contextkit(
        *("remember", "We moved the orders from Postgres to MySQL 8", "--replaces", old),
        *("--category", "decision"),
    )
    first.ask("3-after-the-move", "Which database has the orders?")
    first.ask("4-as-of-march", "Which database has the orders?", "--set", "as_of=2026-03-01")


def _rename_a_file(tree: Place) -> None:
    """A memory of a file that is gone says so, in the work tree where it is gone."""
    tree.git("mv", "payments/retry.py", "payments/attempts.py")
    _commit(tree, "Name the module after its attempts")
    tree.ask("5-after-a-rename", "Why is MOST_RETRIES 3, and where is it?")


def _go_to_another_computer(first: Place, folder: Path) -> None:
    """Exported records are found in a clone on another computer."""
    copy = folder / "records.jsonl"
    first.contextkit("export", str(copy))
    other = evolve(_computer(folder / "second"), contexts=first.contexts)
    other.git("clone", "--quiet", str(folder / "server.git"), str(other.root))
    other.contextkit("import", str(copy))
    other.ask("6-on-another-computer", "Which database has the orders?")


def _day(found: re.Match[str]) -> str:
    return "TODAY" if found[0] == TODAY else found[0]


def recorded(text: str) -> str:
    """A context without what is different each time: moments, ids, delimiters."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", _day, text)
    text = re.sub(r"\b(ghap|mem|evt|task)_[0-9a-z]+", r"\1_ID", text)
    return re.sub(r"reference-[0-9a-f]+", "reference-ID", text).rstrip() + "\n"


def main() -> None:
    """Play in the folder that is named, and write the contexts beside this file."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/a_memory/play.py FOLDER")
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)
    for name, context in play(folder).items():
        (HERE / f"{name}.md").write_text(recorded(context), encoding="utf-8")
        print(f"{name}.md: {len(context)} characters")


if __name__ == "__main__":
    main()
