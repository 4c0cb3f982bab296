"""The page's server: who may ask, what is refused, what is answered."""

import errno
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
import pytest_asyncio

from contextkit import ContextItem, ContextKit, InvalidRequestError, hookimpl
from contextkit.store.embedded import EmbeddedStore
from contextkit_ui.server import LOOPBACK, MOST_BYTES, listen, make_app

PORT = 4711
TOKEN = "the-token"  # noqa: S105 - opens nothing but these tests' page
QUESTION = {"query": "When does the tide turn?", "max_tokens": 600}
GOOD = {"X-Contextkit-Token": TOKEN}


@pytest_asyncio.fixture
async def client(kit: ContextKit) -> AsyncIterator[httpx.AsyncClient]:
    """Asks the application as the page does."""
    transport = httpx.ASGITransport(make_app(kit, TOKEN, PORT))
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://{LOOPBACK}:{PORT}"
    ) as asking:
        yield asking


async def test_it_answers_with_what_the_kit_assembles(
    client: httpx.AsyncClient, assembled: Callable[..., Awaitable[dict[str, Any]]]
) -> None:
    """The tokens, the items in their order and the text are those of the same question."""
    answer = (await client.post("/api/context", json=QUESTION, headers=GOOD)).json()["context"]

    context = await assembled(max_tokens=600)
    assert answer["token_count"] == context["token_count"]
    assert [item["id"] for item in answer["items"]] == [item["id"] for item in context["items"]]
    assert "".join(part["text"] for part in answer["text"]) == context["markdown"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        # A name that was made to point to this machine gets neither the page nor an answer.
        *((host, 403) for host in ("rebound.example", f"rebound.example:{PORT}", LOOPBACK)),
        *((host, 403) for host in (f"{LOOPBACK}:1", "", "[::1]")),
        # Whoever types localhost gets the page.
        *((f"{host}:{PORT}", 200) for host in ("localhost", "LOCALHOST", "[::1]")),
    ],
)
async def test_only_this_machines_names_are_answered(
    client: httpx.AsyncClient, host: str, status: int
) -> None:
    """Another host name is refused, whatever it points to."""
    page = await client.get("/", headers={"Host": host})
    answer = await client.post("/api/context", json=QUESTION, headers={**GOOD, "Host": host})

    assert (page.status_code, answer.status_code) == (status, status)


async def test_two_hosts_are_refused(client: httpx.AsyncClient) -> None:
    """Where a request names two hosts, nobody chooses one."""
    host = f"{LOOPBACK}:{PORT}"

    answer = await client.get("/", headers=[("Host", host), ("Host", host)])

    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        # A page of another origin, token or not.
        ({**GOOD, "Origin": "http://evil.example"}, 403, ""),
        ({**GOOD, "Origin": "null"}, 403, ""),
        ({**GOOD, "Origin": f"http://localhost:{PORT}"}, 403, ""),
        ({**GOOD, "Origin": f"https://{LOOPBACK}:{PORT}"}, 403, ""),
        # No token, a wrong one, or one from another page; and what to do.
        ({}, 401, "whole address"),
        ({"X-Contextkit-Token": ""}, 401, "whole address"),
        ({"X-Contextkit-Token": "the-tokem"}, 401, "whole address"),
        ({"X-Contextkit-Token": "\xff"}, 401, "whole address"),
        ({**GOOD, "Sec-Fetch-Site": "cross-site"}, 401, "whole address"),
        ({**GOOD, "Sec-Fetch-Site": "same-site"}, 401, "whole address"),
    ],
)
async def test_others_are_refused(
    client: httpx.AsyncClient, headers: dict[str, str], status: int, words: str
) -> None:
    """Nothing is said to who has not the token, or comes from another page."""
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    for path, item in (("context", {}), ("explain", {"item": "tides-4"})):
        answer = await client.post(f"/api/{path}", json={**QUESTION, **item}, headers=raw)
        assert answer.status_code == status
        assert words in answer.text


async def test_a_page_elsewhere_is_given_no_permission(client: httpx.AsyncClient) -> None:
    """The question that a browser asks before a foreign one is not answered with a yes."""
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}

    answer = await client.options("/api/context", headers=asked)

    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_browsers_are_told_to_be_strict(client: httpx.AsyncClient) -> None:
    """Every answer has the policy: its own script and style by their hash, nothing else."""
    for answer in (await client.get("/"), await client.get("/nothing")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


async def test_the_page_itself_holds_nothing_of_the_workspace(
    client: httpx.AsyncClient, kit: ContextKit
) -> None:
    """Whoever has no token learns which sources there are, and no more."""
    page = (await client.get("/")).text

    assert 'value="notes"' in page
    assert TOKEN not in page
    assert "notes/part1" not in page
    assert str(kit.workspace.root) not in page


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "a JSON object"),
        (b"{}", "query is empty"),
        (b'{"query": 3}', "must be a text"),
        (b'{"query": " "}', "query is empty"),
        (b'{"query": "q", "max_tokens": 0}', "max_tokens"),
        (b'{"query": "q", "max_tokens": "9"}', "max_tokens"),
        (b'{"query": "q", "max_tokens": NaN}', "max_tokens"),
        (b'{"query": "q", "style": "pdf"}', "style must be one of"),
        (b'{"query": "q", "sources": "notes"}', "list of source names"),
        (b'{"query": "q", "sources": [3]}', "list of source names"),
        (b'{"query": "q", "sources": ["notez"]}', "Did you mean 'notes'?"),
        (b'{"query": "q", "recipe": "premortem"}', "a question has no 'recipe'"),
        (b'{"query": "' + b"q" * MOST_BYTES + b'"}', "bytes at most"),
    ],
)
async def test_a_bad_question_is_refused_in_words(
    client: httpx.AsyncClient, body: bytes, words: str
) -> None:
    """400 and one line: what was wrong and what would be right."""
    headers = {**GOOD, "Content-Type": "application/json"}

    answer = await client.post("/api/context", content=body, headers=headers)

    assert answer.status_code == 400
    assert words in answer.json()["error"]


async def test_it_explains_an_item(client: httpx.AsyncClient) -> None:
    """For an item that was dropped: what became of it."""
    question = {**QUESTION, "item": " tides-4 "}

    answer = await client.post("/api/explain", json=question, headers=GOOD)

    (one,) = answer.json()["explanations"]
    assert (one["outcome"], one["source"], one["id"]) == ("dropped", "tides", "tides-4")
    assert "duplicate of notes notes-1" in one["words"]


@pytest.mark.parametrize("item", [None, "", " ", 3])
async def test_no_item_is_explained_without_a_name(client: httpx.AsyncClient, item: Any) -> None:
    """400, and what it should be."""
    answer = await client.post("/api/explain", json={**QUESTION, "item": item}, headers=GOOD)

    assert answer.status_code == 400
    assert "an id, a title or a location" in answer.json()["error"]


async def test_a_form_is_no_question(client: httpx.AsyncClient) -> None:
    """What a foreign page can send without asking first is refused by its type."""
    body = json.dumps(QUESTION).encode()

    answer = await client.post(
        "/api/context", content=body, headers={**GOOD, "Content-Type": "text/plain"}
    )

    assert answer.status_code == 400
    assert "application/json" in answer.json()["error"]


async def test_no_source_is_an_empty_context(client: httpx.AsyncClient) -> None:
    """With every source switched off the page says so, and fails not."""
    answer = await client.post("/api/context", json={**QUESTION, "sources": []}, headers=GOOD)

    assert answer.status_code == 200
    assert answer.json()["context"]["notes"][0].startswith("no source was queried")


async def test_what_is_no_text_is_answered_all_the_same(
    client: httpx.AsyncClient, kit: ContextKit
) -> None:
    """A path may hold bytes that are no UTF-8: half a surrogate pair arrives as it is."""
    item = ContextItem("odd", "text", 0.9, id="odd", location="odd\udcff.txt:1")

    class Odd:
        @hookimpl
        def contextkit_query(self) -> list[ContextItem]:
            return [item]

    kit.register(Odd(), "odd")

    answer = await client.post("/api/context", json={**QUESTION, "sources": ["odd"]}, headers=GOOD)

    assert answer.json()["context"]["items"][0]["location"] == "odd\udcff.txt:1"


async def test_a_store_that_does_not_open_is_said(
    client: httpx.AsyncClient, kit: ContextKit
) -> None:
    """503 and the store's own line, where no source answers without it."""
    assert isinstance(kit.store, EmbeddedStore)
    kit.store.path.write_text("a file where the folder should be")

    asked = {**QUESTION, "sources": ["silent"]}
    answer = await client.post("/api/context", json=asked, headers=GOOD)

    assert answer.status_code == 503
    assert answer.json()["error"]


def test_it_listens_on_this_machine_alone() -> None:
    """The socket is bound to the loopback address, on a port that was free."""
    with listen(0) as listening:
        address, port = listening.getsockname()

    assert address == "127.0.0.1"
    assert port > 0


def test_a_port_that_is_taken_is_said() -> None:
    """One line with the port and the reason."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidRequestError, match=f"port {port} .* cannot be used") as caught:
            listen(port)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.EADDRINUSE
