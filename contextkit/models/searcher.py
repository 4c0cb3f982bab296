"""What a host's own searcher looks like."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

Found = Sequence[Any] | Awaitable[Sequence[Any]]
"""What a search method returns: results, best first, at once or awaited."""


class Searcher(Protocol):
    """A host's object that finds what the sources ask for, in place of contextkit's store.

    The source `NAME` is answered by the method `search_NAME` (`my-notes` by
    `search_my_notes`). These five are those of the first-party sources; an object may have
    fewer, and more for other sources. A source without a method fails, and the others go on.

    A method is `async` or not. An `async` one is awaited in the event loop that asks for
    the context, others are called in threads, several at once. It is called with the query and,
    as keywords, `limit` and those of the source's filters that it has parameters for: a value,
    a list of which any will do, or a `Range`. Filters without a parameter are applied to the
    fields of what it returns; what lacks such a field does not match. `outcome` is the filter
    on `outcome_status`, and `domain` on a value's `domains`. It has `source_timeout` seconds,
    0.3 unless the request says otherwise: searching over a network may want more.

    With many users, a method with a parameter `user` gets the request's user.
    Results whose field `user` names another one are dropped in any case; what names nobody is
    the project's.

    Results are objects (attrs, dataclasses, any with attributes) or mappings, and hold, at the
    top or in `metadata`:

    - `content` (or `text`, `code`, `message`): the words, where the fields do not hold them;
    - `relevance` (or `score`): how well it matches, 0..1, 1 the best;
    - `id` (or `sha`, `ghap_id`): unique in its source and stable; made from `file_path` and
      `start_line`, or from all of it, where there is none;
    - `created_at` (or `committed_at`, `timestamp`): a datetime or ISO 8601, UTC where it has
      no zone; without one it counts as old;
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
