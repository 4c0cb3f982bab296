"""What can go wrong while texts are embedded; each error is one line for a person.

```
EmbedderError
└── RefusedTextError    an endpoint may have found a text too long
```
"""

from __future__ import annotations

from contextkit.errors import ContextKitError


class EmbedderError(ContextKitError):
    """A model cannot be loaded or asked, or what it gave cannot be used."""


class RefusedTextError(EmbedderError):
    """An endpoint does not take a request as it is; a shorter text may help."""
