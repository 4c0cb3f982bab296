"""How all tests run: hypothesis' profiles, missing programs, line counts, garbage."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from contextkit.testing.surroundings import in_memory

__all__ = ["need", "pytest_collection_finish", "pytest_configure", "pytest_runtest_call"]

ROOM_BYTES = 4_000_000_000
PACKAGES: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("programs.toml").read_text(encoding="utf-8")
)
"""The Debian package of each program that some tests need."""

PROFILE = os.environ.get("CONTEXTKIT_TEST_PROFILE", "dev")
# Examples of each property, by the kind of run and the profile that the property uses.
EXAMPLES = {
    # The further versions of Python in `.ci/run`: what differs there needs few cases.
    "quick": {"contextkit": 25, "thorough": 25, "costly": 10},
    "dev": {"contextkit": 50, "thorough": 50, "costly": 25},
    # What must hold of every context is tried more often where a commit is checked.
    "ci": {"contextkit": 100, "thorough": 1000, "costly": 200},
}[PROFILE]
for name, number in EXAMPLES.items():
    settings.register_profile(
        name,
        max_examples=number,
        # A busy machine is slow at times, and a run shall not depend on luck.
        deadline=None,
        derandomize=True,
        # Explaining a failure takes longer than finding it.
        phases=[phase for phase in Phase if phase is not Phase.explain],
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("contextkit")

# The constants of whichever modules are imported by then would be tried, too, so that the cases
# were others with other tests before them.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Have the tests' folders in memory, where there is room: stores wait for each write.

    They go at the end; `--basetemp=FOLDER` keeps them. The end of the output names the programs
    that were missing.

    Compiled modules are kept, whatever the environment says: each worker, and each of a thousand
    processes that tests start, would compile what it imports.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # `plugins/conftest.py` calls this, too, in a run of all tests.
    if not config.pluginmanager.has_plugin("missing-programs"):
        config.pluginmanager.register(_MissingPrograms(), "missing-programs")
    if PROFILE == "quick" and not config.option.markexpr:
        config.option.markexpr = "not one_python"
    memory = in_memory(ROOM_BYTES)
    # Those of pytest-xdist's workers are in the controller's.
    if config.option.basetemp is None and memory is not None:
        config.option.basetemp = tempfile.mkdtemp(prefix="contextkit-", dir=memory)
        config.add_cleanup(partial(shutil.rmtree, config.option.basetemp, ignore_errors=True))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives to the end of the run: modules and tests.

    Going over them again and again took a sixth of the time of tests that start no process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


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


@pytest.fixture(scope="session")
def need() -> Callable[..., None]:
    """Skip a test for want of a program: `need("fish")`, also in another fixture."""
    return _need


def _need(*programs: str) -> None:
    unknown = sorted({*programs} - {*PACKAGES})
    if unknown:
        raise ValueError(f"tests/programs.toml has no package for {', '.join(unknown)}")
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip("; ".join(map(_is_missing, missing)))


def _is_missing(program: str) -> str:
    return f"{program} is not installed"


class _MissingPrograms:
    """The end of a run's output, where tests were skipped for want of a program."""

    @staticmethod
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        terminalreporter: pytest.TerminalReporter,
    ) -> Generator[None, None, None]:
        """Name the missing programs, how many tests were skipped for each, and their packages."""
        # Below pytest's own list of skipped tests, which is long.
        yield
        reasons = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
        skipped = {
            program: sum(_is_missing(program) in reason for reason in reasons)
            for program in PACKAGES
        }
        missing = [program for program, number in skipped.items() if number]
        if not missing:
            return
        terminalreporter.section("missing programs")
        for program in missing:
            terminalreporter.line(f"{_is_missing(program)}, tests skipped: {skipped[program]}")
        packages = " ".join(PACKAGES[program] for program in missing)
        terminalreporter.line(f"On Debian or Ubuntu: apt-get install {packages}")
