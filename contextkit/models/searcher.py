"""The interface of a host's own searcher."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

Found = Sequence[Any] | Awaitable[Sequence[Any]]
"""A search method's results, best first, returned directly or awaited."""


class Searcher(Protocol):
    """A host's object that searches in place of contextkit's store.

    The method `search_NAME` searches for the source `NAME` (`search_my_notes` for `my-notes`).
    The five methods here are those of the first-party sources; an object may have fewer, and
    others for other sources. A source without a method fails; the others are not affected.

    A method may be `async`. An `async` one runs in the event loop that assembles the context;
    others run in threads, concurrently. It is called with the query and these keyword arguments:
    `limit`, and those of the source's filters that it has parameters for, each a value, a list of
    alternatives, or a `Range`. Filters without a parameter are applied to the fields of the
    results; a result without the field does not match. `outcome` filters `outcome_status`, and
    `domain` filters a value's `domains`. A method has `source_timeout` seconds, by default 0.3;
    searching over a network may need more.

    If a request is for one of many users, the user is passed to methods with a parameter `user`.
    Results whose field `user` names another user are always dropped; those without it belong to
    the project.

    Results are objects (attrs, dataclasses, any with attributes) or mappings. At the top or in
    `metadata`, they have:

    - `content` (or `text`, `code`, `message`): the text, unless the fields have it;
    - `relevance` (or `score`): how well it matches, 0..1, 1 the best;
    - `id` (or `sha`, `ghap_id`): unique in its source and stable; default: made from `file_path`
      and `start_line`, or from the whole result;
    - `created_at` (or `committed_at`, `timestamp`): a datetime or ISO 8601, by default in UTC;
      a result without it counts as old;
    - the fields that its source shows, such as `category` and `importance` of a memory.

    ```python
    class Notes:
        async def search_memories(self, query, limit):
            return [{"id": "1", "content": "Deploys are frozen on Fridays", "score": 0.9}]
    ```
    """

    def search_memories(self, query: str, /, *, limit: int) -> Found:
        """Facts, preferences and decisions: `category`, `importance`."""

    def search_code(self, query: str, /, *, limit: int) -> Found:
        """Code units: `file_path`, `start_line`, `language`, `qualified_name`, `unit_type`."""

    def search_experiences(
        self,
        query: str,
        /,
        *,
        axis: str,
        limit: int,
        domain: str | None = None,
        outcome: str | None = None,
        strategy: str | None = None,
    ) -> Found:
        """Experiences on one axis: `full`, `strategy`, `surprise` or `root_cause`.

        Their fields: `goal`, `hypothesis`, `action`, `prediction`, `outcome_status`,
        `outcome_result`, `surprise`, `root_cause`, `lesson`, `confidence_tier`.
        """

    def search_values(self, query: str, /, *, limit: int) -> Found:
        """Values: `axis`, `cluster_size`, `similarity_to_centroid`, `ghap_id`."""

    def search_commits(self, query: str, /, *, limit: int) -> Found:
        """Commits: `sha`, `author`, `timestamp`, `files_changed`."""
