"""Serve over streamable HTTP.

Loopback needs no token; any other address needs one.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import uvicorn
from attrs import frozen
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from contextkit.errors import ContextKitError, InvalidRequestError
from contextkit_mcp.announcing import MOST_SESSIONS

PATH = "/mcp"
_SHUTDOWN_SECONDS = 2
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - refused without a token

_App = Callable[[Any, Any, Any], Awaitable[None]]


@frozen(kw_only=True)
class Address:
    """A server's address and access rules.

    Making one raises `InvalidRequestError` where strangers could reach it without a token, or if
    the name that clients use is unknown.

    Attributes:
        host: a name or an address.
        port: the port; 0 for a free one.
        token: the token that clients must send (`Authorization: Bearer …`), or None.
        names: further host names that clients use.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    names: Sequence[str] = ()

    def __attrs_post_init__(self) -> None:
        if self.token is not None and not self.token.strip():
            raise InvalidRequestError("the token is empty: use one that is hard to guess")
        if not self.is_loopback and self.token is None:
            raise InvalidRequestError(
                f"{self.host} can be reached from other machines: give a token (--token, or "
                f"CONTEXTKIT_MCP_TOKEN), or stay on 127.0.0.1"
            )
        if self.host in _EVERYWHERE and not self.names:
            raise InvalidRequestError(
                f"{self.host} is every address: name with --allow-host the host names that "
                f"clients use"
            )

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def security(self) -> TransportSecuritySettings:
        """Return the protection from DNS rebinding.

        It lists the host names and origins that are allowed.
        """
        own = f"[{self.host}]" if ":" in self.host else self.host
        names = dict.fromkeys((*_LOOPBACK_NAMES, own, *self.names))
        hosts = [host for name in names for host in (name, f"{name}:*")]
        origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        )

    def bound(self) -> socket.socket:
        """Return a socket that listens there.

        Raises `ContextKitError` if it cannot.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ContextKitError(
                f"cannot listen at {self.host} port {self.port}: {reason}"
            ) from error


async def serve_http(server: Server[Any], address: Address, say: Callable[[str], None]) -> None:
    """Serve until the process is stopped.

    Args:
        server: the server.
        address: its address.
        say: called with a line that names the address, once clients can connect.

    Raises `ContextKitError` where it cannot listen there.
    """
    app: _App = server.streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        transport_security=address.security,
        max_sessions=MOST_SESSIONS,
    )
    if address.token is not None:
        app = _TokenCheck(app, f"bearer {address.token.strip()}".encode())
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    with address.bound() as listening:
        host = f"[{address.host}]" if ":" in address.host else address.host
        # The socket already listens: clients that connect before the server runs must wait.
        say(f"serving on http://{host}:{listening.getsockname()[1]}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])


@frozen
class _TokenCheck:
    """Rejects requests without the token.

    Attributes:
        app: the application behind it.
        expected: the header that requests must carry, its scheme in lower case.
    """

    app: _App
    expected: bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not self._is_let_in(scope["headers"]):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body"})
            return
        await self.app(scope, receive, send)

    def _is_let_in(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        shown = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, token = shown.partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self.expected)
