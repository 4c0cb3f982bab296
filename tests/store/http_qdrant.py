"""A stand-in for a Qdrant server: the client's own engine behind HTTP.

No real server runs in the tests. To run them with one, too, set `CONTEXTKIT_TEST_QDRANT_URL` to its
address and, if it needs one, `QDRANT_API_KEY`: `pytest tests/store` then makes collections named
`contextkit-test-…` there and deletes them.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from qdrant_client import QdrantClient, models

STRICT = {
    "enabled": True,
    "unindexed_filtering_retrieve": False,
    "unindexed_filtering_update": False,
    "max_payload_index_count": 100,
}
"""The strict mode of new collections on Qdrant Cloud."""

LOW_LIMITS = {
    "max_payload_index_count": 7,
    "max_query_limit": 100,
    "upsert_max_batchsize": 100,
    "search_max_batchsize": 1,
    "condition_max_size": 200,
    "search_allow_exact": False,
}
"""Limits that the tests reach, in any case."""


class Refused(Exception):  # noqa: N818 - an answer, not a fault of the stand-in
    """An answer other than 200."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


class HttpQdrant:
    """The part of a Qdrant server's HTTP interface that the store uses, with local data.

    Attributes:
        client: the data.
        api_key: the key that requests need, if any.
        version: the server's.
        strict: the strict mode of its collections; empty: off.
        indexes: payload key -> its index.
        created: how a collection was created or updated, beside its vectors.
        requests: method and path of each request.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        version: str = "1.19.0",
        strict: dict[str, Any] | None = None,
    ) -> None:
        self.client = QdrantClient(":memory:")
        self.api_key = api_key
        self.version = version
        self.strict = strict or {}
        self.indexes: dict[str, Any] = {}
        self.created: dict[str, Any] = {}
        self.requests: list[str] = []
        self._turn = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.client.close()

    def count(self, name: str) -> int:
        """The points of a collection, also while requests are answered; 0 without it."""
        with self._turn:
            exists = self.client.collection_exists(name)
            return self.client.count(name).count if exists else 0

    # -- answers --------------------------------------------------------------------------

    def answer(self, method: str, path: str, body: Any) -> Any:  # noqa: PLR0911
        """What the server says to one request."""
        _, _, name, *rest = path.partition("?")[0].split("/")
        if rest[:1] == ["points"]:
            return self._about_points(name, method, "/".join(rest), body)
        match method, "/".join(rest):
            case "GET", "exists":
                return {"exists": self.client.collection_exists(name)}
            case "GET", "":
                return self._info(name)
            case "GET", "cluster":
                return self._cluster(name)
            case "PUT", "":
                wanted = models.CreateCollection(**body)
                self.created = {**self.created, **_given(wanted)}
                return self.client.create_collection(
                    name,
                    vectors_config=wanted.vectors,
                    sparse_vectors_config=wanted.sparse_vectors,
                )
            case "PATCH", "":
                change = models.UpdateCollection(**body)
                params = change.params.model_dump(exclude_none=True) if change.params else {}
                self.created = {**self.created, **params, **_given(change)}
                return True
            case "PUT", vectors if vectors.startswith("vectors/"):
                if self.older_than(18):
                    raise Refused(404, "")
                config = models.DenseVectorNameConfig(**body)
                return self.client.create_vector_name(name, rest[1], config)
            case "DELETE", vectors if vectors.startswith("vectors/"):
                return self.client.delete_vector_name(name, rest[1])
            case "DELETE", "":
                return self.client.delete_collection(name)
            case "PUT", "index":
                self._make_index(body)
                return {"status": "completed", "operation_id": 0}
        raise LookupError(path)

    def older_than(self, minor: int) -> bool:
        """Whether the server's version is before 1.`minor`."""
        return int(self.version.split(".")[1]) < minor

    def _info(self, name: str) -> dict[str, Any]:
        info: dict[str, Any] = self.client.get_collection(name).model_dump(mode="json")
        params = info["config"]["params"]
        given = {key: value for key, value in self.created.items() if key in params}
        params.update({"shard_number": 1, **given})
        for vectors in params["vectors"].values():
            vectors["on_disk"] = self.created.get("on_disk", False)
        info["config"]["strict_mode_config"] = self.strict or None
        return {**info, "payload_schema": self._schema()}

    def _cluster(self, name: str) -> dict[str, Any]:
        count = self.client.count(name).count
        shard = {"shard_id": 0, "points_count": count, "state": "Active"}
        copies = self.created.get("replication_factor", 1) - 1
        remote = [{"shard_id": 0, "peer_id": 2 + n, "state": "Dead"} for n in range(copies)]
        return {
            "peer_id": 1,
            "shard_count": 1,
            "local_shards": [shard],
            "remote_shards": remote,
            "shard_transfers": [],
        }

    def _make_index(self, body: Any) -> None:
        key = body["field_name"]
        if len(self.indexes) >= self.strict.get("max_payload_index_count", len(self.indexes) + 1):
            raise ValueError("Collection already has the maximum number of payload indices")
        self.indexes[key] = body["field_schema"]

    def _schema(self) -> dict[str, Any]:
        return {
            key: {"data_type": self.kind(key), "params": None, "points": 0} for key in self.indexes
        }

    def kind(self, key: str) -> str | None:
        """The type of a key's index."""
        index = self.indexes.get(key)
        return index["type"] if isinstance(index, dict) else index

    def _about_points(self, name: str, method: str, action: str, body: Any) -> Any:  # noqa: PLR0911
        if self.strict:
            self._refuse(method, action, body)
        match method, action:
            case "PUT", "points":
                upsert = models.PointsList(**body)
                mode = None if self.older_than(17) else upsert.update_mode
                return self.client.upsert(name, upsert.points, update_mode=mode)
            case "POST", "points":
                asked = models.PointRequest(**body)
                return self.client.retrieve(
                    name, asked.ids, with_vectors=asked.with_vector or False
                )
            case "PUT", "points/vectors":
                return self.client.update_vectors(name, models.UpdateVectors(**body).points)
            case "POST", "points/vectors/delete":
                gone = models.DeleteVectors(**body)
                points_gone = gone.filter or list(gone.points or ())
                return self.client.delete_vectors(name, list(gone.vector), points_gone)
            case "POST", "points/payload/delete":
                keys = models.DeletePayload(**body)
                return self.client.delete_payload(name, list(keys.keys), list(keys.points or ()))
            case "POST", "points/payload":
                news = models.SetPayload(**body)
                return self.client.set_payload(
                    name, news.payload, list(news.points or ()), key=news.key
                )
            case "POST", "points/scroll":
                scroll = models.ScrollRequest(**body)
                points, offset = self.client.scroll(
                    name,
                    scroll.filter,
                    scroll.limit or 10,
                    scroll.order_by,
                    scroll.offset,
                    with_vectors=scroll.with_vector or False,
                )
                return {"points": points, "next_page_offset": offset}
            case "POST", "points/count":
                return self.client.count(name, models.CountRequest(**body).filter)
            case "POST", "points/delete":
                selector = (
                    models.PointIdsList(**body)
                    if "points" in body
                    else models.FilterSelector(**body)
                )
                return self.client.delete(name, selector)
            case "POST", "points/query/batch":
                batch = models.QueryRequestBatch(**body)
                return self.client.query_batch_points(name, batch.searches)
        raise LookupError(action)

    # -- strict mode ----------------------------------------------------------------------

    def _refuse(self, method: str, action: str, body: Any) -> None:
        """Refuse what strict mode does not allow, as Qdrant 1.19 checks it."""
        if method == "PUT":
            self._at_most("upsert_max_batchsize", len(body["points"]), "upsert limit")
        searches = body.get("searches", [body])
        self._at_most("search_max_batchsize", len(searches), "search batch size")
        for search in searches:
            self._at_most("max_query_limit", search.get("limit") or 0, "limit")
            if search.get("exact") and self.strict.get("search_allow_exact") is False:
                raise ValueError("Bad request: Exact search disabled! Help: Set exact=false.")
            idf = ((search.get("params") or {}).get("idf") or {}).get("corpus")
            for selected in (search.get("filter"), idf):
                self._refuse_filter(selected or {}, writes=action == "points/delete")

    def _at_most(self, name: str, value: int, what: str) -> None:
        most = self.strict.get(name)
        if most is not None and value > most:
            raise ValueError(f'Bad request: Limit exceeded {value} > {most} for "{what}"')

    def _refuse_filter(self, selected: dict[str, Any], *, writes: bool) -> None:
        for condition in _conditions(selected):
            values = (condition.get("match") or {}).get("any") or condition.get("has_id") or []
            self._at_most("condition_max_size", len(values), "condition size")
            indexed = self.strict.get(
                f"unindexed_filtering_{'update' if writes else 'retrieve'}", True
            )
            key, kinds = _needs(condition)
            if indexed is False and kinds and self.kind(key) not in kinds:
                raise ValueError(
                    f'Bad request: Index required but not found for "{key}" of one of the '
                    f"following types: {sorted(kinds)}. Help: Create an index for this key or use "
                    f"a different filter."
                )

    # -- HTTP -----------------------------------------------------------------------------

    def respond(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        """Answer one request."""
        send(handler, *self.answered(handler, body))

    def answered(self, handler: BaseHTTPRequestHandler, body: Any) -> tuple[int, Any]:
        """The status and the body of an answer, once the request is applied."""
        self.requests.append(f"{handler.command} {handler.path}")
        if self.api_key and handler.headers.get("api-key") != self.api_key:
            return 401, {"status": {"error": "Must provide an API key"}}
        if handler.path == "/":
            return 200, {"title": "qdrant", "version": self.version}
        try:
            with self._turn:
                result = self.answer(handler.command, handler.path, body)
        except Refused as refused:
            return refused.status, {"status": {"error": str(refused)}}
        except ValueError as error:
            status = 404 if "not found." in str(error) else 400
            return status, {"status": {"error": str(error)}}
        return 200, {"result": result, "status": "ok", "time": 0}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        qdrant = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                qdrant.respond(self, json.loads(self.rfile.read(length) or b"null"))

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = _serve  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


def content_of(answer: Any) -> bytes:
    """An answer's body."""
    return json.dumps(answer, default=lambda model: model.model_dump(mode="json")).encode()


def send(handler: BaseHTTPRequestHandler, status: int, answer: Any, **headers: str) -> None:
    """Send an answer."""
    content = content_of(answer)
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


def _given(wanted: models.CreateCollection | models.UpdateCollection) -> dict[str, Any]:
    dumped = wanted.model_dump(mode="json", exclude_none=True)
    vectors = dumped.pop("vectors", {}) or {}
    for one in vectors.values():
        if "on_disk" in one:
            dumped["on_disk"] = one["on_disk"]
    return {key: value for key, value in dumped.items() if key not in ("sparse_vectors", "params")}


def _conditions(selected: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in ("must", "should", "must_not"):
        given = selected.get(part) or []
        for condition in given if isinstance(given, list) else [given]:
            inner = {"must", "should", "must_not"} & condition.keys()
            found += _conditions(condition) if inner else [condition]
    return found


def _needs(condition: dict[str, Any]) -> tuple[str, set[str]]:
    """The key of a condition, and the types of index that it can use; no type: needs none."""
    if empty := condition.get("is_empty"):
        return empty["key"], {"keyword", "integer", "float", "bool", "datetime"}
    key = condition.get("key", "")
    if bounds := condition.get("range"):
        times = any(isinstance(bound, str) for bound in bounds.values())
        return key, {"datetime"} if times else {"float", "integer"}
    match = condition.get("match") or {}
    values = match.get("any", [match["value"]] if "value" in match else [])
    if not values:
        return key, set()
    kind = {str: "keyword", bool: "bool", int: "integer"}[type(values[0])]
    return key, {kind}
