"""Handlers for resources, prompts and completions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

import mcp_types as types
from attrs import frozen
from mcp import MCPError

from contextkit import ContextKit
from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError
from contextkit_mcp import prompts, resources
from contextkit_mcp.tool_handlers import Context, ToolHandlers, called, in_words_of_tools, unknown

T = TypeVar("T")
_MOST_COMPLETED = 100


@frozen(eq=False)
class ResourceHandlers:
    """Lists and reads resources and prompts, and completes their arguments.

    Errors of a request are protocol errors, as these have no other place for them.

    Attributes:
        tools: the tools, which make the contexts of prompts.
    """

    tools: ToolHandlers

    async def list_resources(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = await self._within_kit(resources.recent_memories)
        return types.ListResourcesResult(resources=found)

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found = await self._within_kit(resources.templates)
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        found = await self._within_kit(lambda kit: resources.read_resource(kit, params.uri))
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        offered = await self._within_kit(lambda kit: self._prompts(kit).values())
        return types.ListPromptsResult(prompts=[prompt.for_clients() for prompt in offered])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        await self.tools.live.refresh()
        with self.tools.live.using() as kit:
            offered, tools = self._prompts(kit), self.tools.offered(kit)
            if params.name not in offered:
                raise MCPError(types.INVALID_PARAMS, unknown("prompt", params.name, offered))
            prompt = offered[params.name]
            with _refusing(tools):
                given, text = prompt.checked(params.arguments or {}), ""
                arguments = prompts.tool_arguments(prompt, given)
                if arguments is not None:
                    text = (await called(kit, tools[prompt.tool], arguments, context)).text
        said = types.TextContent(text=prompts.message_of(prompt, given, text, tools))
        return types.GetPromptResult(
            description=prompt.about, messages=[types.PromptMessage(role="user", content=said)]
        )

    async def complete(
        self, _: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        ref, name, value = params.ref, params.argument.name, params.argument.value
        given = (params.context.arguments if params.context else None) or {}

        def found(kit: ContextKit) -> list[str]:
            if isinstance(ref, types.PromptReference):
                return prompts.complete(kit, ref.name, name, value)
            return resources.complete(kit, ref.uri, name, value, given)

        values = await self._within_kit(found)
        more = len(values) > _MOST_COMPLETED
        completion = types.Completion(values=values[:_MOST_COMPLETED], has_more=more)
        return types.CompleteResult(completion=completion)

    def _prompts(self, kit: ContextKit) -> dict[str, prompts.OfferedPrompt]:
        return prompts.offered_prompts(self.tools.offered(kit))

    async def _within_kit(self, run: Callable[[ContextKit], T]) -> T:
        """Run a function in a thread; its errors become protocol errors."""
        await self.tools.live.refresh()
        with self.tools.live.using() as kit, _refusing(self.tools.offered(kit)):
            return await in_thread(lambda: run(kit))


@contextlib.contextmanager
def _refusing(tools: Collection[str]) -> Iterator[None]:
    try:
        yield
    except ContextKitError as error:
        raise MCPError(types.INVALID_PARAMS, in_words_of_tools(error, tools)) from error
