"""The tasks source does what contextkit expects of every source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import contextkit_tasks
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_tasks import TaskStack


class _Tasks(SourceConformance):
    source = contextkit_tasks
    query = "make the release of the wheel"
    timeout = 60.0
    recipe_arguments: Mapping[str, Mapping[str, Any]] = {
        "task": {"goal": "Make the release", "sources": ["code"]}
    }

    def prepare(self, kit: ContextKit) -> None:
        """A stack of three, with two results beside the current task."""
        stack = TaskStack.of(kit)
        stack.push("Make the release", detail="Version 2\n\n# all wheels")
        stack.push("Build the wheel", detail="On three systems")
        stack.push("Read the build log of the release")
        stack.pop("The wheel lacks a module")
        stack.push("Ask for the release notes")
        stack.pop("Nobody answered", blocked=True)
        stack.push("Add the module to the wheel", detail="See pyproject.toml")


class TestTasks(_Tasks):
    """As one asks for a context."""


class TestPath(_Tasks):
    """As the recipe asks for the path."""

    filters: Mapping[str, Any] = {"role": "path"}


class TestSiblings(_Tasks):
    """As the recipe asks for results."""

    filters: Mapping[str, Any] = {"role": "siblings"}
