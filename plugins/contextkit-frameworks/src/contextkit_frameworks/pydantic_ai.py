"""pydantic-ai: a capability that gives an agent context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from pydantic_ai import ModelMessage, ModelRequest, RunContext, UserPromptPart
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from contextkit import FormattedContext, RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of

_NAME = "contextkit"


class ContextKitCapability(AbstractCapability[Any]):
    """Gives an agent the context of each question, before the model is called.

    The context is a part of its own behind the question, and stays in the history: earlier
    messages never change, so a provider's prompt cache stays valid. An item is shown once per
    conversation, and again if its message has left the history.

    Args:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """

    def __init__(self, kit: Kit, **options: Unpack[RequestOptions]) -> None:
        self._contexts = Contexts(kit, options)

    async def before_model_request(
        self,
        ctx: RunContext[Any],
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Add the context to the request that has the question."""
        *earlier, request = request_context.messages
        if isinstance(request, ModelRequest):
            context = await self._contexts.aget(_question(request), _shown(earlier))
            if context is not None:
                request = _with(request, context)
                request_context.messages = [*earlier, request]
                ctx.messages[-1] = request
        return request_context


def _question(request: ModelRequest) -> str:
    """Return the user's text in a request that has no context yet."""
    if _NAME in (request.metadata or {}):
        return ""
    said = [part.content for part in request.parts if isinstance(part, UserPromptPart)]
    texts = (text for each in said for text in ([each] if isinstance(each, str) else each))
    return "\n".join(text for text in texts if isinstance(text, str))


def _shown(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the keys of the items that the messages have."""
    return [key for each in messages for key in (each.metadata or {}).get(_NAME, ())]


def _with(request: ModelRequest, context: FormattedContext) -> ModelRequest:
    shown = [key_of(item) for item in context.items]
    part = UserPromptPart(context.markdown)
    metadata = {**(request.metadata or {}), _NAME: shown}
    return replace(request, parts=[*request.parts, part], metadata=metadata)
