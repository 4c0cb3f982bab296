"""Serve the page, and its parts as JSON for it."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import uvicorn
from attrs import frozen
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from contextkit import ContextKit, InvalidRequestError
from contextkit.concurrency import in_thread
from contextkit.errors import ConfigError, ContextKitError, InvalidContextTypeError, StoreError
from contextkit.logs import get_logger
from contextkit.models import DETAILS, SHARES, STYLES
from contextkit.sources import AmbiguousEntryError, InvalidEntryError, UnknownEntryError
from contextkit_ui.asking import Asking
from contextkit_ui.guard import Guard, may_ask
from contextkit_ui.overview import OverviewPages
from contextkit_ui.pages import Controls, ui_page
from contextkit_ui.project import Project
from contextkit_ui.records import RecordPages
from contextkit_ui.sessions import SessionPages
from contextkit_ui.settings import SettingPages
from contextkit_ui.sources import SourcePages, chosen_sources

LOOPBACK = "127.0.0.1"
MOST_BYTES = 1_000_000
"""Most bytes of a question; longer ones are refused."""

_CHOICES = {"detail": DETAILS, "style": STYLES, "shares": SHARES}
_ASKED = ("query", "sources", "max_tokens", *_CHOICES)
_ENDING_SECONDS = 2
_WRONG = (InvalidRequestError, InvalidContextTypeError, InvalidEntryError, ConfigError)

_log = get_logger(__name__)

Answer = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]


class _AsciiJson(JSONResponse):
    """JSON in ASCII.

    A path may contain bytes that are not text.
    """

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


@frozen(eq=False)
class _Endpoint:
    """Answers authorized requests in JSON.

    Attributes:
        token: the token that a request must carry.
        answer: makes the answer to the body's values.
        known: the names of the values.
        stamp: returns a text that changes when the answer does, where a page follows it.
    """

    token: str
    answer: Answer
    known: Sequence[str] = ()
    stamp: Callable[[], str] | None = None

    async def respond(self, request: Request) -> Response:
        """Answer a request, or say that nothing has changed since the page's last one."""
        if not may_ask(request.headers, self.token):
            return _refusal(401, "This page needs the whole address that `contextkit ui` printed.")
        tag = f'"{self.stamp()}"' if self.stamp else ""
        headers = {"ETag": tag} if tag else {}
        if tag and request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        try:
            asked = await _question(request, self.known) if request.method == "POST" else {}
            return _AsciiJson(await self.answer(asked), headers=headers)
        except _WRONG as error:
            return _refusal(400, str(error))
        except (UnknownEntryError, AmbiguousEntryError) as error:
            return _refusal(404, str(error))
        except ContextKitError as error:
            _log.warning("request_failed", path=request.url.path, reason=str(error))
            return _refusal(503 if isinstance(error, StoreError) else 500, str(error))


def make_app(
    kit: ContextKit, token: str, port: int, open_kit: Callable[[], ContextKit] | None = None
) -> Starlette:
    """Create the application that serves the page.

    Args:
        kit: the kit that assembles contexts.
        token: the token that a question must carry in the header `X-Contextkit-Token`.
        port: the port of this machine that serves it.
        open_kit: opens the kit again when its settings have changed; default: as `ContextKit.open`
            opens it.
    """
    project = Project(kit, open_kit or partial(ContextKit.open, kit.workspace.root))
    asking, records, sources = Asking(project), RecordPages(project), SourcePages(project)
    sessions, settings = SessionPages(project), SettingPages(project)

    def changed(asked: dict[str, Any]) -> dict[str, Any]:
        return {**settings.change(asked), "chips": sources.chips()}

    answers: Mapping[str, tuple[Answer, Sequence[str]]] = {
        "context": (asking.context, _ASKED),
        "explain": (asking.explanations, (*_ASKED, "item")),
        "overview": (_blocking(lambda _: OverviewPages(project).show()), ()),
        "records": (_blocking(records.find), ("source", "query", "ended", "limit")),
        "records/edit": (_blocking(records.edit), ("source", "id", "before", "after")),
        "records/end": (_blocking(records.end), ("source", "id")),
        "sources": (_blocking(lambda _: sources.show()), ()),
        "sources/ask": (_blocking(lambda _: sources.ask()), ()),
        "settings": (_blocking(lambda _: settings.show()), ()),
        "settings/change": (_blocking(changed), ("key", "value")),
    }
    followed = _Endpoint(token, _blocking(lambda _: sessions.show()), stamp=sessions.stamp)

    async def show(_: Request) -> Response:
        """Return the page, without data of the workspace."""
        return HTMLResponse(ui_page(_controls(project), chosen_sources(project)))

    return Starlette(
        routes=[
            Route("/", show, methods=["GET"]),
            Route("/api/sessions", followed.respond, methods=["GET"]),
            *(
                Route(f"/api/{path}", _Endpoint(token, *answer).respond, methods=["POST"])
                for path, answer in answers.items()
            ),
        ],
        middleware=[Middleware(Guard, port=port)],
    )


def _blocking(answer: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Answer:
    """Make a function that blocks answer in a thread."""

    async def in_its_thread(asked: dict[str, Any]) -> Mapping[str, Any]:
        return await in_thread(lambda: answer(asked))

    return in_its_thread


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
            f"give another one, or none to use a free port"
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


def _controls(project: Project) -> Controls:
    defaults = project.kit.config.assemble
    return Controls(
        records_of=tuple(RecordPages(project).sources),
        max_tokens=defaults.max_tokens,
        choices=dict(_CHOICES),
        chosen={option: getattr(defaults, option) for option in _CHOICES},
    )


async def _question(request: Request, known: Sequence[str]) -> dict[str, Any]:
    """Return the body's values.

    Raises `InvalidRequestError` for an invalid question.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidRequestError("send the question as application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise InvalidRequestError(f"a question has {MOST_BYTES:,} bytes at most")
    try:
        asked = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"the question is not JSON: {error}") from error
    if not isinstance(asked, dict):
        raise InvalidRequestError("the question must be a JSON object")
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InvalidRequestError(f"a question has no '{unknown[0]}'; it has: {', '.join(known)}")
    return asked


def _refusal(status: int, words: str) -> Response:
    return _AsciiJson({"error": words}, status)
