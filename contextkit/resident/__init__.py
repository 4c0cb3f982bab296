"""The resident process: `ContextKit`s that stay open, so that an answer takes milliseconds.

It listens on a Unix socket that only its user can reach, one for each `CONTEXTKIT_HOME`. A
client starts it when there is none; it ends when nobody has asked it anything for a while.
`place`, `protocol` and `client` import next to nothing: they are a hook's whole life.
"""

from __future__ import annotations

__all__: list[str] = []
