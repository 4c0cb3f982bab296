"""Assemble contexts over a host's own searcher: `ContextAssembler`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from attrs import define, field

from contextkit.models.context import FormattedContext
from contextkit.models.request_options import RequestOptions
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.questions import AskingForContexts
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.searcher import SearcherStore


@define(eq=False)
class ContextAssembler(AskingForContexts):
    """Assembles contexts from the results of a host's own searcher.

    The installed sources format, weigh and compare the results as they do with records
    of their own; nothing is stored and no workspace is read.

    ```python
    assembler = ContextAssembler(searcher)
    context = await assembler.assemble_context("why do we retry?", ["memories", "code"])
    ```

    Attributes:
        searcher: a `Searcher`, or an object with some of its methods: `search_NAME` for
            each source that is to find something. A source without one is off.
        registry: the sources; default: those that are installed, with default settings.
        project: passed on in the sources' requests.
        pipeline: the stages that assemble.
    """

    searcher: object
    registry: SourceRegistry = field(factory=SourceRegistry, kw_only=True)
    project: str = field(default="", kw_only=True)
    pipeline: Pipeline = field(init=False)

    @pipeline.default
    def _make_pipeline(self) -> Pipeline:
        store = SearcherStore(self.searcher)
        for name in self.registry.sources:
            if not store.can_answer(name):
                self.registry.disable(name, "the searcher has no method for it")
        return Pipeline(self.registry, store, answer=store.answer)

    @property
    def _folder(self) -> Path | None:
        return None

    async def assemble_context(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> FormattedContext:
        """Assemble a query's context, as `ContextKit.assemble_context` does.

        An empty query gives an empty context, so a host need not check its user's input.
        """
        if isinstance(query, str) and not query.strip():
            # The other arguments of the request are still checked.
            self._asked("nothing", context_types, options)
            return FormattedContext(markdown="", items=[], token_count=0, sources_used={})
        return await super().assemble_context(query, context_types, **options)
