"""Recognise failed tests and builds in tool calls.

It imports almost nothing, because every hook loads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

USED_TOOL = "PostToolUse"
FAILED_TOOL = "PostToolUseFailure"

_MOST = 20_000
"""The first characters of a command, and the last of an output, that are examined."""

_BETWEEN = re.compile(r"&&|\|\||[;|&\n()]")
_ASSIGNMENT = re.compile(r"\w+=\S*$")
_WRAPPER = re.compile(
    r"(?:(?:sudo|env|time|nice|nohup|command|exec|xvfb-run|npx|bunx|uvx|dotenv)(?:\s+-\S+)*"
    r"|timeout\s+(?:-\S+\s+)*\S+"
    r"|(?:uv|poetry|pipenv|pdm|rye|hatch|conda|coverage)\s+run(?:\s+-m)?"
    r"|(?:pnpm|yarn|npm)\s+exec(?:\s+--)?|bundle\s+exec"
    r"|(?:\S*/)?python[\d.]*\s+(?:-[A-Za-z]\s+)*-m"
    r"|(?:\S*/)?python[\d.]*(?=\s+\S*manage\.py\s))\s+"
)
_RUNNER = r"(?:npm|pnpm|yarn|bun|deno)(?:\s+-\S+)*(?:\s+run|\s+task)?\s+"
_TEST = re.compile(
    r"(?:pytest|py\.test|tox|nox|unittest|jest|vitest|mocha|ava|phpunit|rspec|ctest|nextest|bats)\b"
    r"|playwright\s+test|cypress\s+run|ng\s+test|vue-cli-service\s+test"
    rf"|{_RUNNER}(?:test|spec|e2e)\b|npm\s+t\b"
    r"|(?:go|cargo|swift|mix|dotnet|stack|cabal|sbt|hatch|bazel|rake|rails|zig\s+build|lein|just"
    r"|make|gmake|crystal|dune|flutter|dart|node\s+--)\s*(?:-\S+\s+)*(?:tests?|spec|check-?tests?)\b"
    r"|(?:g?make|just|mage)\s+(?:\S+\s+)*check\b|cargo\s+nextest\b"
    r"|(?:\./)?(?:mvnw?|gradlew?)\s+(?:\S+\s+)*\S*(?:test\w*|verify|check)\b"
    r"|\S*manage\.py\s+test\b|\S*run_?tests?(?:\.\w+)?\b"
)
_BUILD = re.compile(
    r"(?:g?make|ninja|tsc|webpack|rollup|esbuild|rustc|javac|kotlinc|msbuild|xcodebuild|mypy"
    r"|pyright|eslint|pylint|flake8|gcc|g\+\+|cc|clang|clang\+\+|ghc|scalac|golangci-lint)\b"
    r"|ruff\s+check\b|cmake\s+--build\b|meson\s+compile\b"
    rf"|{_RUNNER}(?:build|compile|typecheck|type-check|lint|check)\b"
    r"|(?:vite|next|nuxt|ng|astro|hatch|swift|dotnet|stack|cabal|zig|bazel|docker|podman"
    r"|docker\s+compose|flutter|dune|rake)\s+build\b|build(?=\s|$)"
    r"|go\s+(?:build|vet|install)\b|cargo\s+(?:build|check|clippy)\b|(?:mix|sbt)\s+compile\b"
    r"|(?:\./)?(?:mvnw?|gradlew?)\s+(?:\S+\s+)*\S*(?:build|compile\w*|assemble\w*|package|install)\b"
    r"|\S*/build(?:\.\w+)?(?=\s|$)"
)
# `[ \t]` instead of `\s`, which would match across all following empty lines.
_SHOWS_FAILURE = re.compile(
    r"^=+ .*\b\d+ (?:failed|errors?)\b"  # pytest
    r"|^\d+ (?:failed|errors?)\b.* in [\d.]+s|^(?:FAILED|ERROR) \S+(?:::| - )"
    r"|^FAILED \((?:failures|errors)="  # unittest
    r"|^[ \t]*Tests?(?: Suites)?:?[ \t]+(?:\d+ [a-z]+[,|]? ?)*[1-9]\d* failed\b"  # jest, vitest
    r"|^[ \t]+[1-9]\d* failing$|^# fail [1-9]|^not ok [1-9]"  # mocha, node, tap
    r"|^--- FAIL: |^FAIL[ \t]+\S|^FAIL$"  # go
    r"|^test result: FAILED|^error(?:\[E\d+\])?: |^error TS\d+|: error (?:TS|CS|C)\d+"
    r"|: (?:fatal )?error: |^Found \d+ errors?\b|^npm (?:ERR!|error) |^ERROR in "
    r"|^BUILD FAILED|^FAILURE: Build failed|\[ERROR\] (?:BUILD FAILURE|Failed to execute)"
    r"|^g?make(?:\[\d+\])?: \*\*\* |^ninja: build stopped|^Failed![ \t]+- Failed: +[1-9]"
    r"|^\d+ examples?, [1-9]\d* failures?|^Tests: \d+, .*(?:Failures|Errors): [1-9]"
    r"|^[1-9]\d* tests? failed out of|% tests passed, [1-9]\d* tests? failed"
    r"|^[ \t]*[1-9]\d* tests?, [1-9]\d* failures?",
    re.MULTILINE,
)


def failed_kind(event: Mapping[str, Any]) -> str | None:
    """The kind of command that has failed, if any.

    Args:
        event: `PostToolUseFailure`, or `PostToolUse` of a command that hides the exit code of
            the test or build (`pytest | tail`).

    Returns:
        `test` or `build`; None for other commands, and those that succeeded or were interrupted.
    """
    name, given = event.get("hook_event_name"), event.get("tool_input")
    if name not in {USED_TOOL, FAILED_TOOL} or not isinstance(given, Mapping):
        return None
    command = given.get("command")
    kind = command_kind(command) if isinstance(command, str) else None
    if kind is None or event.get("is_interrupt"):
        return None
    return kind if name == FAILED_TOOL or _has_failed(event.get("tool_response")) else None


def command_kind(command: str) -> str | None:
    """Classify a shell command as `test`, else `build`, else None."""
    kinds = {_kind(part) for part in _parts(command[:_MOST])}
    return "test" if "test" in kinds else "build" if "build" in kinds else None


def _parts(command: str) -> Iterator[str]:
    for part in _BETWEEN.split(command):
        words = part.strip()
        while words:
            first, _, rest = words.partition(" ")
            wrapped = _WRAPPER.match(words)
            if _ASSIGNMENT.match(first):
                words = rest.lstrip()
            elif wrapped:
                words = words[wrapped.end() :].lstrip()
            else:
                break
        if words:
            yield words


def _kind(words: str) -> str | None:
    program, _, rest = words.partition(" ")
    # A tool may be called by its path: `.venv/bin/pytest`.
    for spelt in (words, f"{program.rpartition('/')[2]} {rest}".strip()):
        if _TEST.match(spelt):
            return "test"
    for spelt in (words, f"{program.rpartition('/')[2]} {rest}".strip()):
        if _BUILD.match(spelt):
            return "build"
    return None


def _has_failed(response: object) -> bool:
    if isinstance(response, str):
        return _SHOWS_FAILURE.search(response[-_MOST:]) is not None
    if not isinstance(response, Mapping) or response.get("interrupted"):
        return False
    for name in ("exit_code", "exitCode", "returncode", "code"):
        code = response.get(name)
        if isinstance(code, int) and code:
            return True
    if response.get("is_error") is True or response.get("success") is False:
        return True
    texts = (response.get(name) for name in ("stdout", "stderr", "output", "content"))
    return any(_has_failed(text) for text in texts if isinstance(text, str))
