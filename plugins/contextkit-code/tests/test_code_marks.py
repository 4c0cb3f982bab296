"""The marks of gaps in an excerpt."""

from __future__ import annotations

import pytest

from contextkit_code.runs import numbered, with_marks

SOURCE = """\
/* Keep the items of a shelf.
 * They are in order,
 * from left to right. */
int keep(int items) {
    // Why.
    return items;
}
/* The end.
 */"""
CODE = SOURCE.split("\n")


@pytest.mark.parametrize(
    ("shown", "marks"),
    [
        ({0, 3, 4, 5, 6, 7, 8}, [" * ... lines 2-3 */"]),
        ({0, 2, 3, 4, 5, 6, 7, 8}, [" * ... line 2"]),
        ({2, 3, 4, 5, 6, 8}, ["/* ... lines 1-2", "/* ... line 8"]),
        ({0, 1, 2, 3, 6}, ["    // ... lines 5-6", "// ... lines 8-9"]),
        ({0, 8}, [" * ... lines 2-8"]),
    ],
)
def test_a_mark_within_a_comment_is_a_part_of_it(shown: set[int], marks: list[str]) -> None:
    """Without the end of its comment, the function below would be one."""
    lines = with_marks(CODE, shown, range(1, 11), 1, "//")
    assert [line for line in lines if " ... " in line] == marks
    rows, numbers = numbered(lines, 1, 9) or ((), ())
    assert rows == tuple(CODE[row] for row in sorted(shown))
    again = with_marks(rows, range(len(rows)), numbers, 1, "//")
    assert [line.strip() for line in again] == [line.strip() for line in lines]
