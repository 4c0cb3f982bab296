"""What the tests of a plugin need: a conformance suite, records on a real store, an index run.

```python
from contextkit.testing import SourceConformance

import my_weather

class TestWeather(SourceConformance):
    source = my_weather
    query = "rain in Berlin"
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.testing.conformance import SourceConformance
    from contextkit.testing.stores import HashingModel, make_indexer, open_records

__all__ = ["HashingModel", "SourceConformance", "make_indexer", "open_records"]

_HOME = {
    "HashingModel": "stores",
    "SourceConformance": "conformance",
    "make_indexer": "stores",
    "open_records": "stores",
}


def __getattr__(name: str) -> Any:
    # Only the conformance suite needs pytest, and only the stores need the engine.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
