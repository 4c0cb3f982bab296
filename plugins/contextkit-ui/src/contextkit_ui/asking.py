"""Assemble and explain contexts, for the page."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import frozen

from contextkit import InvalidRequestError
from contextkit.agent import make_request
from contextkit_ui.pages import result_html
from contextkit_ui.project import Project
from contextkit_ui.view import view_of


@frozen(eq=False)
class Asking:
    """Answers questions.

    Attributes:
        project: the project that they are about.
    """

    project: Project

    async def context(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Assemble a context for a question."""
        kit = self.project.kit
        query, sources = asked.pop("query", ""), asked.pop("sources", None)
        request = make_request(
            kit.config,
            query,
            project=kit.project,
            workspace=kit.workspace.root,
            sources=sources,
            **asked,
        )
        context = await kit.assemble_context(query, sources, record_use=False, **asked)
        view = view_of(request, context, self.project.hues)
        return {"context": attrs.asdict(view), "html": result_html(view)}

    async def explanations(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Explain an item's place in a question's context, or its absence."""
        item, query = asked.pop("item", ""), asked.pop("query", "")
        if not isinstance(item, str) or not item.strip():
            raise InvalidRequestError("item must be an id, a title or a location")
        found = await self.project.kit.explain_item(
            item.strip(), query, asked.pop("sources", None), **asked
        )
        return {
            "explanations": [
                {"outcome": one.outcome, "source": one.source, "id": one.id, "words": one.words}
                for one in found
            ]
        }
