"""How code is taken apart into statements without a parser."""

from __future__ import annotations

import pytest

from contextkit_code.statements import paragraphs, statements


def rows_of(code: str, language: str) -> list[tuple[int, int]]:
    """The first and the last row of each statement."""
    return [(each.first, each.last) for each in statements(code.split("\n"), language)]


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", "a = f(\n    b,\n\n    c,\n)\nd", [(0, 4), (5, 5)]),
        ("python", "a = {\n    'b': '(',\n}\nd", [(0, 2), (3, 3)]),
        ("python", 'a = """\nb(\n"""\nc', [(0, 2), (3, 3)]),
        ("python", "a = b + \\\n    c\nd", [(0, 1), (2, 2)]),
        ("python", "a  # ( not open\nb", [(0, 0), (1, 1)]),
        ("python", "# one\n# two\n\nb", [(0, 1), (3, 3)]),
        ("go", "if a {\n\treturn b\n}\nc()", [(0, 2), (3, 3)]),
        ("go", "if a {\n\tb()\n\tc()\n}", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ("go", "a := T{\n\tb: 1,\n\tc: 2,\n}\nd()", [(0, 3), (4, 4)]),
        ("go", "a := '{'\nb := `{\n(`\nc()", [(0, 0), (1, 2), (3, 3)]),
        ("typescript", "a\n  .b()\n  .c();\nd();", [(0, 2), (3, 3)]),
        ("typescript", "const a =\n  b &&\n  c;\nd();", [(0, 2), (3, 3)]),
        ("rust", "fn a<'b>(c: &'b str) {\n  d;\n  e;\n}", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ("lua", "a = { -- {\n  1,\n}\nb()", [(0, 2), (3, 3)]),
        ("python", "f(\n" + "    a,\n" * 12 + ")", [(row, row) for row in range(14)]),
        ("c", ")\n}\na(", [(0, 0), (1, 1), (2, 2)]),
        ("dart", "a(\n  'b(',\n);\n// (\nc();", [(0, 2), (3, 3), (4, 4)]),
        ("hcl", "a = [ # (\n  1,\n]\nb = 2", [(0, 2), (3, 3)]),
        ("julia", "#= a (\n\nb =#\nc = d'\ne(f)", [(0, 2), (3, 3), (4, 4)]),
        ("objectivec", "[a b:@\"[\"\n   c:'['];\nd();", [(0, 1), (2, 2)]),
        ("ocaml", "(* a (\n\nb *)\nlet c : 'd list =\n  e\nf", [(0, 2), (3, 4), (5, 5)]),
        ("perl", "=head1 A (\n\nb\n\n=cut\nc(1);\nd(2);", [(0, 4), (5, 5), (6, 6)]),
        ("powershell", "<# a (\n\nb #>\nc\nd", [(0, 2), (3, 3), (4, 4)]),
    ],
)
def test_lines_of_one_statement_are_joined(
    language: str, code: str, expected: list[tuple[int, int]]
) -> None:
    """By brackets, strings, operators and short blocks; long brackets are a block."""
    assert rows_of(code, language) == expected


@pytest.mark.parametrize(
    ("language", "code", "last_needs"),
    [
        ("python", "for a in b:\n    c()\n    if d:\n        e()", [0, 2]),
        ("python", "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()", [0, 4]),
        ("go", "switch a {\ncase b:\n\tc()\n\td()\ncase e:\n\tf()", [0, 4]),
        ("typescript", "try {\n  a();\n  b();\n} catch {\n  c();\n  d();", [0, 3]),
        ("ruby", "if a\n  b\n  c\nend", [0]),
    ],
)
def test_a_statement_needs_what_encloses_it(
    language: str, code: str, last_needs: list[int]
) -> None:
    """The headers above it, the `if` of an `else`, the `switch` of a case."""
    found = statements(code.split("\n"), language)
    pending, needed = list(found[-1].needs), set[int]()
    while pending:
        number = pending.pop()
        needed.add(found[number].first)
        pending += found[number].needs

    assert sorted(needed) == last_needs


def test_a_comment_or_a_decorator_needs_what_is_below_it() -> None:
    """Alone, neither says what it is for."""
    found = statements(["# Why.", "@cached", "def f():", "    pass"], "python")

    assert [each.needs for each in found] == [(1,), (2,), (), (2,)]


def test_prose_is_taken_apart_at_sentences() -> None:
    """Runs of whole rows; an item of a list begins one, a heading goes with those below it."""
    rows = ["# Jars", "", "One is", "red. Two", "are blue.", "Three.", "- four", ":param a: five"]

    found = paragraphs(rows)

    assert [(each.first, each.last) for each in found] == [(0, 0), (2, 4), (5, 5), (6, 6), (7, 7)]
    assert all(each.needs == (0,) for each in found[1:])
