"""`contextkit doctor`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.output import in_colour, table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.text.clean import visible

if TYPE_CHECKING:
    from contextkit.cli.checks import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}
_STATE = re.compile(rf"^({'|'.join(_COLOURS)})\b", re.MULTILINE)
_HEADINGS = ["STATE", "PART", "MS", ""]


@click.command(
    epilog="""\b
Examples:
  contextkit doctor
  contextkit doctor --deep
  contextkit -C ../other doctor --json
"""
)
@click.option("--deep", is_flag=True, help="Also read and verify every stored record.")
@json_option
@pass_session
def doctor(session: Session, deep: bool, as_json: bool) -> int:
    """Check that everything works.

    It checks the configuration, plugins, embedding models, store, cache, index, an assembly, the
    log of agents' hooks and git. Each check prints one line with its result, what to do about a
    problem, and its time. Nothing is changed. The exit code is 1 if there is a problem; warnings
    do not count.
    """
    from contextkit.cli.checks import examine, worst

    findings = list(examine(session.folder, settings=session.settings, deep=deep))
    state = worst(findings)
    total = sum(found.milliseconds for found in findings)
    data = {
        "state": state,
        "milliseconds": round(total, 1),
        "findings": [_as_data(found) for found in findings],
    }
    rows = [_cells(found) for found in findings]
    text = f"{table(_HEADINGS, rows)}\n\n{_summary(findings)}; {total:,.0f} ms"
    if in_colour() and not as_json:
        click.echo(_STATE.sub(_coloured, visible(text)))
    else:
        session.emit(data, text, as_json)
    return ExitCode.FAILED if state == "problem" else ExitCode.FINE


def _as_data(found: Finding) -> dict[str, object]:
    from attrs import asdict

    return {**asdict(found), "milliseconds": round(found.milliseconds, 1)}


def _cells(found: Finding) -> list[str]:
    words = f"{found.text}; {found.remedy}" if found.remedy else found.text
    return [found.state, found.part, f"{found.milliseconds:,.0f}", " ".join(words.split())]


def _coloured(state: re.Match[str]) -> str:
    return click.style(state.group(), fg=_COLOURS[state.group()], bold=True)


def _summary(findings: list[Finding]) -> str:
    counts = {
        state: sum(1 for found in findings if found.state == state)
        for state in ("problem", "warning")
    }
    parts = [
        f"{count} {state}{'' if count == 1 else 's'}" for state, count in counts.items() if count
    ]
    return ", ".join(parts) or "all is well"
