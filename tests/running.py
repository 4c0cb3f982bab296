"""How all tests run: hypothesis' profiles, and what is counted where lines are."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from contextkit.testing.surroundings import in_memory

__all__ = ["pytest_configure", "pytest_runtest_call"]

ROOM_BYTES = 4_000_000_000

# A busy machine is slow at times, and a run shall not depend on luck.
# Explaining a failure takes longer than finding it.
PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)
settings.register_profile(
    "contextkit",
    deadline=None,
    derandomize=True,
    phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("contextkit")
# What must hold of every context is tried more often where a commit is checked.
PROFILE = os.environ.get("CONTEXTKIT_TEST_PROFILE", "dev")
for name, examples in {
    "thorough": {"dev": 100, "ci": 1000},
    # Of several assemblies each.
    "costly": {"dev": 50, "ci": 200},
}.items():
    settings.register_profile(
        name, settings.get_profile("contextkit"), max_examples=examples[PROFILE]
    )

# The constants of whichever modules are imported by then would be tried, too, so that the cases
# were others with other tests before them.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Have the tests' folders in memory, where there is room: stores wait for each write.

    They go at the end; `--basetemp=FOLDER` keeps them.
    """
    memory = in_memory(ROOM_BYTES)
    # Those of pytest-xdist's workers are in the controller's.
    if config.option.basetemp is None and memory is not None:
        config.option.basetemp = tempfile.mkdtemp(prefix="contextkit-", dir=memory)
        config.add_cleanup(partial(shutil.rmtree, config.option.basetemp, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Count no lines in properties: it doubles their time, and examples cover the same lines.

    Nor where a test is marked `uncounted`, for the same reason. pytest-cov's own mark, `no_cover`,
    is no help where pytest-xdist distributes the tests: another measurement of the worker's goes
    on then.
    """
    is_property = isinstance(item, pytest.Function) and is_hypothesis_test(item.function)
    if not is_property and item.get_closest_marker("uncounted") is None:
        return (yield)
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
