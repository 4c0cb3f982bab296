"""Serve contexts over HTTP with FastAPI: one kit for all requests, closed with the server.

Run it in a project: `uvicorn --factory --app-dir examples fastapi_app:make_app`, then
`curl localhost:8000/context --json '{"query": "why do we retry?"}'`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from contextkit import ContextAssemblyError, ContextKit, ContextKitError


class Question(BaseModel):
    """What is asked; None stands for what the project's configuration says."""

    query: str
    sources: list[str] | None = None
    max_tokens: int | None = None


class Answer(BaseModel):
    """The text for an agent, its tokens, and how many items each source has in it."""

    markdown: str
    token_count: int
    sources_used: dict[str, int]


def make_app(workspace: str | Path = ".") -> FastAPI:
    """The application for one workspace; its store opens with the first request."""
    kit = ContextKit.open(workspace)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with kit:
            yield

    app = FastAPI(title="Contexts", lifespan=lifespan)

    @app.post("/context")
    async def context(question: Question) -> Answer:
        """Assemble the context for a query."""
        found = await kit.assemble_context(
            question.query, question.sources, max_tokens=question.max_tokens
        )
        return Answer(
            markdown=found.markdown,
            token_count=found.token_count,
            sources_used=found.sources_used,
        )

    @app.exception_handler(ContextAssemblyError)
    async def refuse(_: Request, error: ContextAssemblyError) -> JSONResponse:
        """The request makes no sense; the error's one line says what would."""
        return JSONResponse({"detail": str(error)}, status_code=400)

    @app.exception_handler(ContextKitError)
    async def fail(_: Request, error: ContextKitError) -> JSONResponse:
        """The store does not open: its line is for the operator, since it names folders."""
        logging.getLogger("uvicorn.error").error("%s", error)
        return JSONResponse({"detail": "no context can be assembled now"}, status_code=503)

    return app
