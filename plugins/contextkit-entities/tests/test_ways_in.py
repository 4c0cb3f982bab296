"""The command line and the agent's tools."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import contextkit_entities
from contextkit import ContextKit
from contextkit.testing import CommandLine, ToolCaller
from contextkit_entities import EntityBook, InvalidEntityError, UnknownEntityError

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_from_the_command_line(run: CommandLine) -> None:
    """Add, relate, list, show, unrelate, forget."""
    added = run("entities", "add", "Billing", "--type", "service", "-p", "owner=Ana", "-p", "x=1")
    assert added.output == "Added Billing (service, this project)\n"
    again = run("entities", "add", "billing", "-p", "x=", "--salience", "0.9", "--json")
    assert json.loads(again.output)["properties"] == {"owner": "Ana"}
    ana = run("entities", "add", "Ana", "--alias", "AL", "--global")
    assert ana.output == "Added Ana (concept, all your projects)\n"
    related = run("entities", "relate", "Billing", "owned by", "al", "--weight", "0.5")
    assert related.output == "Related: Billing --[owned by]--> Ana\n"
    assert run("entities", "list").output == (
        "0.90  service  Billing (owner: Ana)\n0.50  concept  Ana\n"
    )
    assert run("entities", "list", "--limit", "1").output.endswith("1 of 2 entities\n")
    assert run("entities", "list", "--from-code").output == "No entities.\n"
    assert run("entities", "show", "AL").output == (
        "Ana (concept, salience 0.50)\nalso called: AL\n  Billing --[owned by]--> Ana\n"
    )
    shown = json.loads(run("entities", "show", "billing", "--json").output)
    assert [(each["target"], each["depth"]) for each in shown["relations"]] == [("Ana", 1)]
    removed = run("entities", "unrelate", "billing", "owned by", "Ana")
    assert removed.output == "Removed: Billing --[owned by]--> Ana\n"
    assert run("entities", "show", "billing").output.endswith("  No relations.\n")
    assert run("entities", "forget", "billing").output == "Forgot Billing\n"


def test_sources_counts_relations_too(run: CommandLine) -> None:
    """The source `entities` keeps their records; each is counted where it is shown."""
    run("entities", "add", "Billing")
    run("entities", "add", "Ana")
    run("entities", "relate", "Billing", "owned by", "Ana")
    rows = json.loads(run("sources", "--json").output)
    counted = {row["name"]: row["records"] for row in rows}
    assert (counted["entities"], counted["relations"]) == (2, 1)


def test_exit_codes(run: CommandLine) -> None:
    """5 for what there is not, 2 for what may not be."""
    assert run("entities", "show", "Gone").exit_code == 5
    assert run("entities", "forget", "Gone").exit_code == 5
    assert run("entities", "add", "?").exit_code == 2
    assert run("entities", "add", "A", "--salience", "7").exit_code == 2
    bad = run("entities", "add", "A", "-p", "owner")
    assert bad.exit_code == 2
    assert "expected KEY=VALUE, got 'owner'" in bad.output
    run("entities", "add", "A")
    assert run("entities", "unrelate", "A", "uses", "A").exit_code == 5


async def test_for_agents(call: ToolCaller, kit: ContextKit) -> None:
    """The same by tools; what is answered has the types that were promised."""
    stored = await call(
        "remember_entity", name="Billing", type="service", properties={"owner": "Ana", "port": 80}
    )
    assert stored.data["outcome"] == "stored"
    assert stored.data["properties"] == {"owner": "Ana", "port": 80}
    await call("remember_entity", name="Stripe", aliases=["card processor"], for_all_projects=True)
    related = await call(
        "relate_entities", source="Billing", type="depends on", target="card processor", weight=0.5
    )
    assert related.text == "Related: Billing --[depends on]--> Stripe"
    found = await call("find_related", entity="Stripe")
    assert found.data["entity"]["scope"] == "user"
    assert [each["source"] for each in found.data["relations"]] == ["Billing"]
    removed = await call("unrelate_entities", source="Billing", type="depends on", target="Stripe")
    assert removed.data["weight"] == 0.5
    forgotten = await call("forget_entity", entity="Billing")
    assert (forgotten.data["relations"], forgotten.text) == (0, "Forgot Billing")
    assert [each.name for each in EntityBook.of(kit).list()] == ["Stripe"]
    with pytest.raises(UnknownEntityError):
        await call("find_related", entity="Billing")
    with pytest.raises(InvalidEntityError):
        await call("remember_entity", name="?")


def test_the_plugin_costs_nothing_until_it_is_used() -> None:
    """Names are imported when they are asked for; others are none."""
    assert contextkit_entities.Entity.__name__ == "Entity"
    with pytest.raises(AttributeError, match="no attribute 'Thing'"):
        contextkit_entities.Thing  # noqa: B018


async def test_the_readme(kit: ContextKit) -> None:
    """Its Python runs, and what it shows of a context is what is made."""
    namespace = {"kit": kit}
    for snippet in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(snippet, namespace)  # noqa: S102
    context = await kit.assemble_context("what does billing depend on?")
    shown = re.findall(r"```markdown\n(.*?)```", README, re.DOTALL)
    assert shown[0].strip() in context.markdown
