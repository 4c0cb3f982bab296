"""Errors of embedding; each message is one line.

```
EmbedderError
└── RefusedTextError    an endpoint may have found a text too long
```
"""

from __future__ import annotations

from contextkit.errors import ContextKitError


class EmbedderError(ContextKitError):
    """A model cannot be used, or returned unusable output."""


class RefusedTextError(EmbedderError):
    """An endpoint refuses a request; a shorter text may help."""
