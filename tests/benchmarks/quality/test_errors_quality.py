"""Error messages to the functions that raise them: that it measures, on a small repository."""

from __future__ import annotations

import json
from pathlib import Path

from contextkit.testing.repositories import own_git
from tests.benchmarks.quality.errors import ErrorQuestion, main, questions_of

_GATE = """\
def close_gate(name, hour):
    if hour is None:
        raise ValueError(f"no hour was given for {name}")
    return hour
"""

_LOCK = """\
func lockGate(name string, lock *Lock) error {
	if lock == nil {
		return fmt.Errorf("gate %q has no lock", name)
	}
	return lock.Close()
}
"""


def test_messages_are_measured(tmp_path: Path) -> None:
    """One of a test is no question, and a value is replaced."""
    folder = tmp_path / "repos" / "harbour"
    folder.mkdir(parents=True)
    (folder / "gate.py").write_text(_GATE)
    (folder / "lock.go").write_text(_LOCK)
    (folder / "test_gate.py").write_text(_GATE.replace("close", "open"))
    with own_git(folder) as git:
        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "Close the gate")
    assert questions_of(folder, 25) == [
        ErrorQuestion("ValueError", "no hour was given for x7", "gate.py", 3),
        ErrorQuestion("error", "gate 'x7' has no lock", "lock.go", 3),
    ]
    result = tmp_path / "result.json"
    main(["--repos", str(folder.parent), "--json", str(result)])
    row, total = json.loads(result.read_text())["rows"]
    assert (row.pop("repository"), row.pop("questions")) == ("harbour", 2)
    assert {**row, "repository": "all", "questions": 2} == total
    ways = ("", "alone ", "pasted ")
    assert row == {f"{way}{it}": "1.000" for way in ways for it in ("first", "shown")}
