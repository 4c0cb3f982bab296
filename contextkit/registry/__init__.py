"""Which plugins there are, which sources are on, and how their hooks are called.

| module | what it knows |
|---|---|
| `sources` | the registry itself (`SourceRegistry`) |
| `plugin_status` | where a plugin comes from, and whether it can be used |
| `plugin_checks` | hooks that a plugin meant to implement and did not |
| `checks` | whether a hook returned what it should |
| `hook_failures` | hooks whose failure costs no more than what they would have given |
| `absent_sources` | settings of sources that are not installed |
"""

from __future__ import annotations

from contextkit.registry.sources import SourceRegistry

__all__ = ["SourceRegistry"]
