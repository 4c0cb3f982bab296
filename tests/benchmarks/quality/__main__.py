"""`python -m tests.benchmarks.quality NAME [OPTIONS]`; each name's own `--help` says more."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click
import structlog

COMMANDS = {
    "code": "questions -> files, NDCG@10",
    "localise": "a commit's subject -> the functions that it changed, in the context",
    "memories": "questions -> the turns that answer them, in the context",
    "updates": "memories that replace older ones -> first, and the older ones marked",
    "commits": "a changelog entry -> its commit",
    "mixed": "questions about this repository to all five sources",
    "sweqa": "a question about a repository -> the names of its answer, by default and at best",
    "issues": "an issue -> the files and functions that its fix changed",
    "errors": "a pasted error message -> the function that raises it",
    "places": "questions about the setup, and code in rarer forms -> the place that answers",
    "contextbench": "a task -> the files and lines that solve it, in the context",
    "outdated": "memories of files and names that are gone -> marks",
    "agent": "what a coding agent is asked, to every source that is installed",
}
"""Name, which is that of the module whose `main` takes the options -> what is measured."""


def main(arguments: Sequence[str]) -> None:
    """Run one measurement."""
    name, *options = arguments or [""]
    if name not in COMMANDS:
        rows = [f"  {each:<13}{what}" for each, what in COMMANDS.items()]
        said = "\n".join([__doc__ or "", "", *rows])
        click.echo(said, err=name not in {"-h", "--help"})
        raise SystemExit(0 if name in {"-h", "--help"} else 2)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    importlib.import_module(f"tests.benchmarks.quality.{name}").main(options)


if __name__ == "__main__":
    main(sys.argv[1:])
