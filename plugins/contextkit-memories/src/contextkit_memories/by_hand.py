"""`contextkit memories search`, `edit`, `export` and `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli import ExitCode, Session, edit_command, emit_found, json_option, pass_session
from contextkit_memories.book import MemoryBook

if TYPE_CHECKING:
    from contextkit_memories.markdown import Report

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("query")
@click.option("-c", "--category", help="Only this category, in singular or plural.")
@click.option("-t", "--tag", help="Only memories with this tag.")
@click.option("--all", "ended", is_flag=True, help="Also memories that are no longer true.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True)
@json_option
@pass_session
def search(session: Session, /, query: str, as_json: bool, **wanted: Any) -> None:
    """List the memories that match QUERY, best first.

    The first column is the relevance, 0 to 1.

    \b
    Example: contextkit memories search "how do we deploy?" --category decisions
    """
    found = MemoryBook.of(session.kit).search(query, **wanted)
    emit_found(session, MemoryBook, found, as_json)


edit = edit_command(
    MemoryBook,
    """Change the memory with this ID, or its beginning.

    Options that are not given stay as they are. Without options, it opens in the editor that
    VISUAL or EDITOR names. If the editor fails or nothing changes, nothing is written.

    \b
    Example: contextkit memories edit mem_1m80dw4m --importance 0.9 --tag style
    """,
)


@click.command()
@click.option("--markdown", "folder", required=True, type=_FOLDER, metavar="FOLDER")
@click.option("--overwrite", is_flag=True, help="Replace edited files, too.")
@click.option("--delete", is_flag=True, help="Delete files whose memory does not exist.")
@json_option
@pass_session
def export(session: Session, /, folder: Path, as_json: bool, **options: bool) -> int:
    """Write memories as Markdown files, one each.

    It writes the memories of this project and those of all your projects into FOLDER, for example
    for git. Files may be renamed and edited. Edited ones stay, and the exit code is then 1:
    `contextkit memories import FOLDER` reads them.

    \b
    Example: contextkit memories export --markdown docs/memories
    """
    from contextkit_memories.markdown import export_memories

    report = export_memories(MemoryBook.of(session.kit), folder, **options)
    return _emit(session, report, "written new", as_json)


@click.command("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--overwrite", is_flag=True, help="Take files whose memory changed, too.")
@json_option
@pass_session
def import_(session: Session, /, folder: Path, overwrite: bool, as_json: bool) -> int:
    """Read memories from the Markdown files of FOLDER.

    The files come from `contextkit memories export`, or from you: a file with front matter but
    without an id is a new memory. A file that is broken, or whose memory changed since the export,
    is named and the others are read; the exit code is then 1. Memories without a file stay.

    \b
    Example: contextkit memories import docs/memories
    """
    from contextkit_memories.markdown import import_memories

    report = import_memories(MemoryBook.of(session.kit), folder, overwrite=overwrite)
    return _emit(session, report, "new", as_json)


def _emit(session: Session, report: Report, new: str, as_json: bool) -> int:
    names = {"stored": new, "updated": "changed", "unchanged": "unchanged", "deleted": "deleted"}
    counts = [f"{len(report.done[each])} {names[each]}" for each in names if each in report.done]
    lines = [", ".join(counts) or "No memories."]
    lines += [f"  {file}: {words}" for file, words in (*report.refused, *report.remarks)]
    data = {
        **{each: report.done.get(each, []) for each in names},
        "remarks": dict(report.remarks),
        "refused": dict(report.refused),
    }
    session.emit(data, "\n".join(lines), as_json)
    return ExitCode.FAILED if report.refused else ExitCode.FINE
