"""Extract the author's own text, without tool and template text."""

from __future__ import annotations

import re

ROUTINE_SUBJECT = re.compile(
    r"(?:(?:build|chore|ci|fix|deps)(?:\([^)\n]{0,40}\))?!?: ?)?"
    r"(?:bump|update dependenc|lock file maintenance|pin dependenc|pre-commit autoupdate)"
    r"|\[pre-commit\.ci\]|(?:build|chore|ci|fix)\(deps"
    # A version alone, and that of a package.
    r"|(?:[\w./-]{1,60}[- @])?v?\d++\.\d++[\w.+-]*+$",
    re.IGNORECASE,
)
"""Match subjects of dependency updates and version bumps, automatic or manual."""

_BOT = re.compile(
    r"\[bot\]|\bbot$|dependabot|renovate|greenkeeper|pyup|snyk|pre-commit-ci|github-actions",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"[A-Za-z-]{1,36}-(?:by|id|on|to|url|session): ", re.IGNORECASE)
_TASK = re.compile(r"[-*] \[[ xX]\]")
_RULE = re.compile(r"(?:-{3,}+|={3,}+|\*{3,}+|_{3,}+|`{3,}+\w*+|~{3,}+\w*+)")
_GENERATED = re.compile(r"\W{0,9}(?:generated (?:with|by)|created by) \W{0,9}\w", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6}) ")
_SUMMARY_BY_A_TOOL = re.compile(r"(?:#{1,6} )?(?:Summary|Release notes) by \w", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n{3,}")


def is_bot(author: str) -> bool:
    """Return whether an author is a dependency or formatting bot."""
    return _BOT.search(author) is not None


def own_words(message: str, author: str = "") -> str:
    """Strip HTML comments, trailers, task lists, rules and tools' summaries.

    Of a bot's message only the subject remains: the rest quotes others' release notes.
    """
    subject, _, body = message.partition("\n")
    if is_bot(author) or not body:
        return subject
    kept: list[str] = []
    summary = 0
    for line in _without_comments(body).split("\n"):
        heading = _HEADING.match(line)
        if _SUMMARY_BY_A_TOOL.match(line):
            summary = len(heading[1]) if heading else len("######")
        elif heading and len(heading[1]) <= summary:
            summary = 0
        # A template's heading would only be a line of marks in the text.
        if not (summary or (heading and len(heading[1]) > 1) or _is_added(line)):
            kept.append(line)
    return _BLANK_LINES.sub("\n\n", "\n".join([subject, *kept])).rstrip()


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[at:start])
        at = end + len("-->")
    return "".join([*parts, text[at:]])


def _is_added(line: str) -> bool:
    bare = line.strip()
    added = any(it.match(bare) for it in (_TRAILER, _TASK, _GENERATED))
    return added or _RULE.fullmatch(bare) is not None
