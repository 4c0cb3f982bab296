"""The plugins' tests run as all tests do: `tests/running.py`, found where it is.

A plugin's tests may be run by themselves, and then nothing of `tests/` can be imported by its name.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

_PLACE = Path(__file__).parents[1] / "tests" / "running.py"
_running = ModuleType("running")
_running.__file__ = str(_PLACE)
SourceFileLoader(_running.__name__, str(_PLACE)).exec_module(_running)

pytest_collection_finish = _running.pytest_collection_finish
pytest_configure = _running.pytest_configure
pytest_runtest_call = _running.pytest_runtest_call
need = _running.need
