"""Serve the page, and contexts as JSON for it."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs
import uvicorn
from attrs import frozen
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from contextkit import ContextKit, InvalidRequestError
from contextkit.agent import make_request
from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError, InvalidContextTypeError, StoreError
from contextkit.logs import get_logger
from contextkit.models import DETAILS, SHARES, STYLES
from contextkit.sources import AmbiguousEntryError, InvalidEntryError, UnknownEntryError
from contextkit_ui.guard import Guard, may_ask
from contextkit_ui.pages import Controls, result_html, ui_page
from contextkit_ui.records import RecordPages
from contextkit_ui.view import Hues, hues_of, view_of

LOOPBACK = "127.0.0.1"
MOST_BYTES = 1_000_000
"""Most bytes of a question; longer ones are refused."""

_CHOICES = {"detail": DETAILS, "style": STYLES, "shares": SHARES}
_ASKED = ("query", "sources", "max_tokens", *_CHOICES)
_ENDING_SECONDS = 2

_log = get_logger(__name__)


class _AsciiJson(JSONResponse):
    """JSON in ASCII.

    A path may contain bytes that are not text.
    """

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


@frozen(eq=False)
class _Page:
    kit: ContextKit
    token: str
    hues: Hues

    async def show(self, _: Request) -> Response:
        """Return the page, without data of the workspace."""
        return HTMLResponse(ui_page(_controls(self.kit, self.hues)))

    async def assemble(self, request: Request) -> Response:
        """Assemble a context for the question in the body."""
        return await self._answered(request, self._context, _ASKED)

    async def explain(self, request: Request) -> Response:
        """Explain an item's place in the context, or its absence.

        The context is that of the question in the body.
        """
        return await self._answered(request, self._explanations, (*_ASKED, "item"))

    def about_records(
        self, answer: Callable[[dict[str, Any]], dict[str, Any]], known: Sequence[str]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint for a request about records, which blocks."""

        async def in_its_thread(asked: dict[str, Any]) -> dict[str, Any]:
            return await in_thread(lambda: answer(asked))

        async def answered(request: Request) -> Response:
            return await self._answered(request, in_its_thread, known)

        return answered

    async def _answered(
        self,
        request: Request,
        answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
        known: Sequence[str],
    ) -> Response:
        if not may_ask(request.headers, self.token):
            return _refusal(401, "This page needs the whole address that `contextkit ui` printed.")
        try:
            return _AsciiJson(await answer(await _question(request, known)))
        except (InvalidRequestError, InvalidContextTypeError, InvalidEntryError) as error:
            return _refusal(400, str(error))
        except (UnknownEntryError, AmbiguousEntryError) as error:
            return _refusal(404, str(error))
        except ContextKitError as error:
            _log.warning("context_failed", reason=str(error))
            return _refusal(503 if isinstance(error, StoreError) else 500, str(error))

    async def _context(self, asked: dict[str, Any]) -> dict[str, Any]:
        query, sources = asked.pop("query", ""), asked.pop("sources", None)
        request = make_request(
            self.kit.config,
            query,
            project=self.kit.project,
            workspace=self.kit.workspace.root,
            sources=sources,
            **asked,
        )
        context = await self.kit.assemble_context(query, sources, record_use=False, **asked)
        view = view_of(request, context, self.hues)
        return {"context": attrs.asdict(view), "html": result_html(view)}

    async def _explanations(self, asked: dict[str, Any]) -> dict[str, Any]:
        item, query = asked.pop("item", ""), asked.pop("query", "")
        if not isinstance(item, str) or not item.strip():
            raise InvalidRequestError("item must be an id, a title or a location")
        found = await self.kit.explain_item(
            item.strip(), query, asked.pop("sources", None), **asked
        )
        return {
            "explanations": [
                {"outcome": one.outcome, "source": one.source, "id": one.id, "words": one.words}
                for one in found
            ]
        }


def make_app(kit: ContextKit, token: str, port: int) -> Starlette:
    """The application that serves the page.

    Args:
        kit: the kit that assembles contexts.
        token: the token that a question must carry in the header `X-Contextkit-Token`.
        port: the port of this machine that serves it.
    """
    page = _Page(kit, token, hues_of(kit.registry))
    records = RecordPages(kit, page.hues)
    about = (
        ("", records.find, ("source", "query", "ended", "limit")),
        ("/edit", records.edit, ("source", "id", "before", "after")),
        ("/end", records.end, ("source", "id")),
    )
    return Starlette(
        routes=[
            *(
                Route(f"/api/records{path}", page.about_records(answer, known), methods=["POST"])
                for path, answer, known in about
            ),
            Route("/", page.show, methods=["GET"]),
            Route("/api/context", page.assemble, methods=["POST"]),
            Route("/api/explain", page.explain, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, port=port)],
    )


def listen(port: int) -> socket.socket:
    """Return a listening socket of this machine.

    Port 0 takes a free port.

    Raises `InvalidRequestError` if the port is taken or not permitted.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise InvalidRequestError(
            f"port {port} of this machine cannot be used ({error.strerror}): "
            f"name another one, or none to take one that is free"
        ) from error
    return listening


def make_server(app: Starlette) -> uvicorn.Server:
    """Return a server that finishes its requests when interrupted."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=_ENDING_SECONDS,
        )
    )


def _controls(kit: ContextKit, hues: Hues) -> Controls:
    defaults = kit.config.assemble
    return Controls(
        sources=tuple((name, hues[name]) for name in kit.registry.sources),
        off=tuple(
            (plugin.name, plugin.reason or plugin.state)
            for plugin in kit.registry.plugins
            if plugin.state != "on" and plugin.is_source is not False
        ),
        records_of=tuple(RecordPages(kit, hues).sources),
        max_tokens=defaults.max_tokens,
        choices=dict(_CHOICES),
        chosen={option: getattr(defaults, option) for option in _CHOICES},
    )


async def _question(request: Request, known: Sequence[str]) -> dict[str, Any]:
    """Return the body's values.

    Raises `InvalidRequestError` for an invalid question.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidRequestError("a question is sent as application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise InvalidRequestError(f"a question has {MOST_BYTES:,} bytes at most")
    try:
        asked = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"the question is no JSON: {error}") from error
    if not isinstance(asked, dict):
        raise InvalidRequestError("the question must be a JSON object")
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InvalidRequestError(f"a question has no '{unknown[0]}'; it has: {', '.join(known)}")
    return asked


def _refusal(status: int, words: str) -> Response:
    return _AsciiJson({"error": words}, status)
