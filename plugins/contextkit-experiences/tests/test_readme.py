"""What the README says is true."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import contextkit_experiences as plugin
from contextkit.models.items import ContextItem
from contextkit.models.records import Records
from contextkit_experiences import Experience, ExperienceBook, to_json
from contextkit_experiences.vocabulary import DOMAINS, STRATEGIES

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs(records: Records, make: Callable[..., Experience]) -> None:
    """It begins, changes, resolves, adds and lists."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    exec(code, {"records": records, "data": to_json(make("ghap_z"))})  # noqa: S102

    first, second = sorted(ExperienceBook(records).list(), key=lambda each: each.id)
    assert (first.goal, second.id) == ("stop the nightly timeout", "ghap_z")


def test_the_words_and_keys_are_all_there(make: Callable[..., Experience]) -> None:
    """Each suggested word and each key of the JSON is named."""
    for word in (*DOMAINS, *STRATEGIES, *to_json(make())):
        assert re.search(rf"\b{word}\b", README.replace("\n", " ")), word


def test_the_shown_formats_are_the_real_ones() -> None:
    """The examples in Markdown are what the source makes of such an experience."""
    full, compact = re.findall(r"```markdown\n(.*?)\n```", README, re.DOTALL)
    fields = dict(re.findall(r"- \*\*([\w ]+)\*\*: (.*)", full))
    goal, _, _ = full.partition(": ")[2].partition(" (")
    status, result = fields["Outcome"].split(" - ")
    item = ContextItem(
        "experiences",
        "",
        1.0,
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        metadata={
            "goal": goal,
            "hypothesis": fields["Hypothesis"],
            "action": fields["Tried"],
            "domain": "debugging",
            "strategy": "check-assumptions",
            "outcome_status": status,
            "outcome_result": result,
            "surprise": fields["Surprise"],
            "root_cause": fields["Root cause"],
            "lesson": {"what_worked": fields["What worked"], "takeaway": fields["Takeaway"]},
        },
    )

    assert list(plugin.contextkit_format([item], "markdown", "full")) == [full]
    assert list(plugin.contextkit_format([item], "markdown", "compact")) == [compact]
