"""How pages of a manual become chunks that read as plain text."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit import ContextKit
from contextkit_documents.chunks import chunks_of
from contextkit_documents.file_kinds import FileKind

MDOC = r"""
.\" A comment
.Dd May 1, 2026
.Dt HATCH 1
.Sh NAME
.Nm hatch
.Nd opens a hatch
.Sh KEY BINDINGS
.Nm
binds a key to a
.Em command
with
.Ic bind\-key ,
.Ql C\-b
by default (see
.Xr sh 1 ) :
.Pp
.Bd -literal -offset indent
bind\-key C \efB"open
  hatch"
.Ed
.Bl -tag -width Ds
.Tg open
.It Fl n Ar number
.D1 Pq alias: Ic open
Opens it
.Nm -slowly
.Ar number
times.
.El
"""

MAN = r"""
.TH "HATCH" "1"
.SH "NAME"
\fBhatch\fR \- opens a "hatch"
.SS "The options"
.IP "\(bu" 4
.IR first :
quick
.TP
\fB\-n\fR
slow\. It\(aqs
.nf
hatch \-n
.fi
"""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            MDOC,
            [
                (("NAME",), 5, "hatch opens a hatch"),
                (
                    ("KEY BINDINGS",),
                    8,
                    "hatch binds a key to a command with bind-key, C-b by default (see sh 1):\n\n"
                    '    bind-key C \\fB"open\n      hatch"\n\n'
                    "- -n number\n    alias: open\nOpens it hatch -slowly number times.",
                ),
            ],
        ),
        (
            MAN,
            [
                (("NAME",), 3, 'hatch - opens a "hatch"'),
                (
                    ("NAME", "The options"),
                    5,
                    "- first:\nquick\n\n- -n\nslow. It's\n\n    hatch -n",
                ),
            ],
        ),
    ],
    ids=["mdoc", "man"],
)
def test_a_manual_page_is_cut_at_its_headings_and_read_without_macros(
    page: str, expected: list[tuple[tuple[str, ...], int, str]]
) -> None:
    """Its paragraphs are lines, and its examples keep theirs."""
    chunks = chunks_of(page.split("\n"), FileKind("documentation", "man"))
    assert [(chunk.headings, chunk.first + 1, chunk.text) for chunk in chunks] == expected


async def test_a_manual_page_answers_with_its_plain_text(kit: ContextKit, workspace: Path) -> None:
    """The place is that of the file's lines."""
    (workspace / "man").mkdir()
    (workspace / "man" / "hatch.1").write_text(MDOC)
    kit.index()
    context = await kit.assemble_context("how do I bind a key to a command?")
    assert "KEY BINDINGS (`man/hatch.1:8`)\n```text\nhatch binds a key" in context.markdown


async def test_a_heading_that_every_manual_page_has_says_nothing(
    kit: ContextKit, workspace: Path
) -> None:
    """All options are below OPTIONS, of whichever the question asks."""
    (workspace / "hatch.1").write_text(".SH OPTIONS\nThe options of the lamp are all set.\n")
    (workspace / "lamp.md").write_text(
        "# Lamp file\n\nIts options are set line by line, as in any other, and by hand.\n"
    )
    kit.index()
    context = await kit.assemble_context("which options can I set for the lamp?")
    assert [item.title for item in context.items] == ["Lamp file", "OPTIONS"]
