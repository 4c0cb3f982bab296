"""Access control: allow this machine's own page only.

Other clients of the port are refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from attrs import field, frozen
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contextkit_ui.pages import content_policy

TOKEN_HEADER = "x-contextkit-token"  # noqa: S105 - a header's name
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def _headers() -> Mapping[str, str]:
    return {
        "Content-Security-Policy": content_policy(),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }


@frozen(eq=False)
class Guard:
    """Refuses requests to other hosts, and sets strict browser headers.

    A foreign name that DNS points to 127.0.0.1 reaches the port but gets no answer, as the name is
    in the request's `Host`.

    Attributes:
        app: the application behind it.
        port: the server's port.
    """

    app: ASGIApp
    port: int
    _more: Mapping[str, str] = field(factory=_headers, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request over HTTP, the server's only protocol."""

        async def send_strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._more)
            await send(message)

        app = self.app if self._asked_of_us(Headers(scope=scope)) else _refuse
        await app(scope, receive, send_strictly)

    def _asked_of_us(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        ours = [f"{name}:{self.port}" for name in _LOOPBACK]
        origin = headers.get("origin")
        return (
            len(hosts) == 1
            and hosts[0].lower() in ours
            and (origin is None or origin.lower() == f"http://{hosts[0].lower()}")
        )


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    words = "This is contextkit's page, for this machine alone: open the address that it printed."
    await JSONResponse({"error": words}, 403)(scope, receive, send)


def may_ask(headers: Headers, token: str) -> bool:
    """Return whether a request is authorized.

    It must carry the token. Where the browser states the site, that must be the page's own.
    """
    given = headers.get(TOKEN_HEADER, "")
    return (
        secrets.compare_digest(given.encode(), token.encode())
        and headers.get("sec-fetch-site", "same-origin") == "same-origin"
    )
