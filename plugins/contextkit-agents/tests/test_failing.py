"""Which tool calls count as a failing test or build."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit.agent.failures import command_kind, failed_kind

TESTS = [
    *(
        "pytest",
        "py.test -x",
        "python -m pytest tests",
        "python3.12 -m unittest",
        ".venv/bin/pytest",
    ),
    *("cd src && uv run pytest -q", "PYTHONPATH=. CI=1 pytest", "poetry run pytest", "hatch test"),
    *(
        "tox -e py312",
        "nox -s tests",
        "coverage run -m pytest",
        "timeout 60 pytest",
        "sudo -E pytest",
    ),
    *("npm test", "npm t", "npm run test:unit", "pnpm test", "yarn test", "bun test", "npx jest"),
    *("npx vitest run", "yarn exec jest", "npx playwright test", "deno test", "node --test"),
    *("go test ./...", "cargo test --all", "cargo nextest run", "mvn -q test", "./gradlew test"),
    *("./gradlew :app:testDebug", "gradle check", "dotnet test", "bundle exec rspec", "rake test"),
    *("rails test", "phpunit tests", "vendor/bin/phpunit", "ctest --output-on-failure", "mix test"),
    *(
        "swift test",
        "make test",
        "make -j4 check",
        "just test",
        "python manage.py test",
        "sbt test",
    ),
    *("./run_tests.sh", "stack test", "make build && pytest", "bazel test //...", "flutter test"),
]
BUILDS = [
    *("make", "make -j8 all", "cmake --build build", "ninja -C out", "cargo build", "cargo clippy"),
    *(
        "go build ./...",
        "go vet",
        "npm run build",
        "yarn build",
        "pnpm run lint",
        "npx tsc --noEmit",
    ),
    *(
        "mypy src",
        "ruff check .",
        "npx eslint .",
        "gcc -o a a.c",
        "javac A.java",
        "python -m build",
    ),
    *("docker build .", "docker compose build", "./gradlew assembleDebug", "mvn clean package"),
    *(
        "next build",
        "vite build",
        "dotnet build",
        "swift build",
        "mix compile",
        "xcodebuild -scheme a",
    ),
    *("./build.sh", "cd a; make"),
]
OTHERS = [
    *("ls", "cat tests/test_a.py", "git commit -m 'make test'", "grep pytest .", "echo npm test"),
    *(
        "pip install pytest",
        "vim Makefile",
        "",
        "   ",
        "git checkout build",
        "cd build",
        "rm -rf build/",
    ),
    *(
        "python a.py",
        "A=1",
        "mkdir make",
        "npm install",
        "go mod tidy",
        "cargo add serde",
        "&& || ;",
    ),
]
FAILURES = [
    "===== 1 failed, 2 passed in 0.12s =====",
    "===== 3 passed, 1 error in 0.12s =====",
    "1 failed, 2 passed in 0.12s",
    "FAILED tests/test_a.py::test_b - assert 0",
    "FAILED (failures=1, errors=2)",
    "Tests:       1 failed, 4 passed, 5 total",
    " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed (11)",
    "  3 failing",
    "# fail 2",
    "not ok 1 - adds",
    "--- FAIL: TestA (0.00s)",
    "FAIL\tgithub.com/a/b\t0.1s",
    "test result: FAILED. 1 passed; 1 failed",
    "error[E0308]: mismatched types",
    "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
    "a.c:1:2: error: expected ';'",
    "Found 2 errors in 1 file (checked 3 source files)",
    "npm ERR! code ELIFECYCLE",
    "BUILD FAILED in 3s",
    "[ERROR] BUILD FAILURE",
    "make: *** [Makefile:2: all] Error 1",
    "ninja: build stopped: subcommand failed.",
    "Failed!  - Failed:     1, Passed:     2",
    "5 examples, 2 failures",
    "Tests: 3, Assertions: 4, Failures: 1.",
    "50% tests passed, 1 tests failed out of 2",
    "12 tests, 1 failure",
]
SUCCESSES = [
    "",
    "===== 3 passed in 0.12s =====",
    "Tests:       4 passed, 4 total",
    "test result: ok. 3 passed; 0 failed",
    "ok  \tgithub.com/a/b\t0.1s",
    "# fail 0",
    "5 examples, 0 failures",
    "100% tests passed, 0 tests failed out of 2",
    "12 tests, 0 failures",
    "Success: no issues found in 3 source files",
    "0 failed, 3 passed",
    "Failed!  - Failed:     0, Passed:     2",
]


def used(command: str, response: Any, **more: Any) -> dict[str, Any]:
    """The event of a command that ran."""
    given = {"tool_input": {"command": command}, "tool_response": response}
    return {"hook_event_name": "PostToolUse", **given, **more}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (c, kind)
        for kind, all_of in (("test", TESTS), ("build", BUILDS), (None, OTHERS))
        for c in all_of
    ],
)
def test_the_kind_of_a_command(command: str, kind: str | None) -> None:
    """Tests however people start them; what compiles, checks or lints; others with such words."""
    assert command_kind(command) == kind


@pytest.mark.parametrize("output", FAILURES)
def test_an_output_shows_a_failure(output: str) -> None:
    """Where the exit code is hidden, the tools' own words tell."""
    text = f"collecting\n{output}\nend"
    for response in ({"stdout": text, "stderr": ""}, {"stdout": "", "stderr": text}, text):
        assert failed_kind(used("pytest | tail", response)) == "test"


@pytest.mark.parametrize("output", SUCCESSES)
def test_an_output_shows_no_failure(output: str) -> None:
    """Zero failures are none."""
    assert failed_kind(used("pytest | tail", {"stdout": f"a\n{output}\n", "stderr": ""})) is None


@pytest.mark.parametrize(
    "response", [{"exit_code": 1}, {"exitCode": 2}, {"is_error": True}, {"success": False}]
)
def test_an_exit_code_tells(response: dict[str, Any]) -> None:
    """Other agents report one."""
    assert failed_kind(used("make", response)) == "build"


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"hook_event_name": "PostToolUse"},
        {"hook_event_name": "PostToolUseFailure", "tool_input": "pytest"},
        {"hook_event_name": "PostToolUseFailure", "tool_input": {"command": 5}},
        {"hook_event_name": "PostToolUseFailure", "tool_input": {"file_path": "a"}},
        {"hook_event_name": "PreToolUse", "tool_input": {"command": "pytest"}},
        used("pytest", None),
        used("pytest", {"exit_code": 0, "stdout": 5}),
        used("pytest", {"stdout": "1 failed in 1s", "interrupted": True}),
        used("pytest", {"stdout": "1 failed in 1s"}, is_interrupt=True),
    ],
)
def test_what_says_no_failure_is_none(event: dict[str, Any]) -> None:
    """Nor is what a person has stopped."""
    assert failed_kind(event) is None


def test_long_texts_cost_no_time() -> None:
    """A command and an output of any length are looked at in part, and the end counts."""
    assert command_kind("a " * 1_000_000) is None
    assert command_kind("VAR=1 " * 3_000) is None
    assert command_kind("sudo " * 4_000) is None
    assert failed_kind(used("pytest", f"{'x ' * 1_000_000}\n1 failed in 1s")) == "test"
