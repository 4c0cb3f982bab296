"""Copies are found, contradictions are kept, and nothing is lost."""

from __future__ import annotations

import random
import re
import time

import pytest
from rapidfuzz import fuzz

from contextkit.dedup.deduplicate import DedupResult, deduplicate
from contextkit.models.items import ContextItem, Provenance
from tests.edits import PROSE, edited, passages

LONG = (
    "The deployment of the billing service runs every night and sends a report to the whole "
    "platform team afterwards, "
)


def item(source: str, content: str, /, **more: object) -> ContextItem:
    """An item with an id of its own."""
    return ContextItem(source, content, 0.5, **more)  # type: ignore[arg-type]


def run(*items: ContextItem, scores: tuple[float, ...] = (), threshold: float = 0.9) -> DedupResult:
    """Deduplicate items without keys, the first ones best."""
    best_first = scores or tuple(1 - 0.01 * number for number in range(len(items)))
    return deduplicate(items, best_first, [()] * len(items), threshold)


def merges(text: str, other: str) -> list[bool]:
    """Whether either text loses to the other, whichever scores best."""
    return [
        bool(run(item("a", text, id="1"), item("b", other, id="2"), scores=scores).duplicate_of)
        for scores in ((0.9, 0.5), (0.5, 0.9))
    ]


CODE = (
    "def load(db, key):\n"
    "    row = db.query(key)\n"
    "    log(row, key, db.name, db.version, row.name, row.version)\n"
    "    return row.name if row and row.version == db.version else None\n"
)
JAVASCRIPT = (
    "function load(db, key) {\n"
    "  const row = db.query(key);\n"
    "  return row && row.version == db.version ? row.name : null;\n"
    "}\n"
)

COPIES = {
    "case and punctuation": ("The build is green, finally.", "the build is green finally"),
    "white space": ("Run  the\ttests\nfirst", "Run the tests first"),
    "a dropped word": (
        "Set the timeout to 30 s before the next release",
        "Set the timeout to 30 s before the release",
    ),
    "a dropped word in a long text": (LONG + "and that is good", LONG + "and that good"),
    "a prefix": ("Prefer tabs in Makefiles.", "Note to self: Prefer tabs in Makefiles."),
    "a tag before it": ("Fix the crash on empty input", "[backport] Fix the crash on empty input"),
    "swapped sentences": ("We deploy late. Tests run first.", "Tests run first. We deploy late."),
    "swapped clauses": ("Tests run first, we deploy late", "we deploy late, tests run first"),
    "swapped halves": ("Because it is slow we cache it", "We cache it because it is slow"),
    "swapped parts of an enumeration": ("salt and pepper", "Pepper and salt"),
    "a file name without its dot": ("Use `run()` in a.py, then stop.", "use run in apy then stop"),
    "thousands with a comma": ("There are 1,000 users now", "There are 1000 users now"),
    "a contraction": ("Please don't do that to me", "Please do not do that to me"),
    "hyphens": ("state-of-the-art tools are used here", "state of the art tools are used here"),
    "typographic marks": ("“Quoted” text – here’s one", '"Quoted" text - here\'s one'),
    "full-width letters": ("\uff26\uff55\uff4c\uff4c width", "Full width"),
    "spelling": (LONG + "in the colour", LONG + "in the color"),
    "Chinese, swapped": ("缓存在夜里清空。报告发给团队。", "报告发给团队。缓存在夜里清空。"),
    "code, indented": ("def f(x):\n    return x+1\n", "def f(x):\n        return x + 1"),
    "code, a comment more": (CODE, f"{CODE}    # copied as it is\n"),
    "code, a comment more behind a line": (CODE, CODE.replace("key)\n", "key)  # the newest\n")),
    "code, a comment more in another language": (JAVASCRIPT, f"// as it is\n{JAVASCRIPT}"),
}

CONTRADICTIONS = {
    "a number": ("timeout is 30 s", "timeout is 60 s"),
    "a unit": (LONG + "timeout 30 s", LONG + "timeout 30 ms"),
    "a sign": (LONG + "the offset is -1", LONG + "the offset is 1"),
    "a percentage": (LONG + "5% of it", LONG + "50% of it"),
    "a currency": (LONG + "it costs $5", LONG + "it costs €5"),
    "a number left out": (LONG + "in 3 regions", LONG + "in regions"),
    "numbers in another order": (LONG + "from 3 to 5", LONG + "from 5 to 3"),
    "a number in words": (LONG + "three replicas", LONG + "four replicas"),
    "a version": ("Release 1.2", "Release 1.3"),
    "a version's dot": ("Release 1.2", "Release 12"),
    "a date": ("The audit is due 2024-05-01", "The audit is due 2024-05-02"),
    "a month": (LONG + "until March", LONG + "until May"),
    "a day": ("The meeting is on Monday", "The meeting is on Tuesday"),
    "days in another order": (LONG + "Monday to Friday", LONG + "Friday to Monday"),
    "a time": (LONG + "at 10:30", LONG + "at 11:30"),
    "an issue": (LONG + "see #123", LONG + "see #124"),
    "a hash": (LONG + "commit deadbeef1", LONG + "commit deadbeef2"),
    "a path": ("edit src/a.py first", "edit src/b.py first"),
    "a URL": (LONG + "https://a.example.org/x", LONG + "https://b.example.org/x"),
    "a flag": (LONG + "use --force", LONG + "use --quiet"),
    "an identifier": (LONG + "column user_id", LONG + "column team_id"),
    "a method": (LONG + "the getName method", LONG + "the setName method"),
    "a constant": (LONG + "set MAX_RETRIES", LONG + "set MIN_RETRIES"),
    "a word in capitals": (LONG + "GET request", LONG + "PUT request"),
    "a name": (LONG + "Alice reviews it", LONG + "Bob reviews it"),
    "names in another order": (LONG + "Alice told Bob", LONG + "Bob told Alice"),
    "a single letter": (LONG + "plan A is it", LONG + "plan B is it"),
    "a negation": (LONG + "we use tabs", LONG + "we do not use tabs"),
    "a negation, contracted": (LONG + "it is safe", LONG + "it isn't safe"),
    "a negation, short": ("We use tabs here now", "We don't use tabs here now"),
    "a negation in another place": (
        "The cache is not shared, the queue is",
        "The cache is, the queue is not shared",
    ),
    "never": (LONG + "always run it", LONG + "never run it"),
    "without": (LONG + "with retries", LONG + "without retries"),
    "nobody": (LONG + "nobody may push", LONG + "everybody may push"),
    "unless": (LONG + "unless it fails", LONG + "if it fails"),
    "an opposite": (LONG + "it is enabled", LONG + "it is disabled"),
    "an opposite by prefix": (LONG + "it is stable", LONG + "it is unstable"),
    "before": (LONG + "before the sync", LONG + "after the sync"),
    "true": (LONG + "the flag is true", LONG + "the flag is false"),
    "an environment": (LONG + "in staging", LONG + "in production"),
    "a comparison": (LONG + "if a == b then", LONG + "if a != b then"),
    "an emoji": (LONG + "\U0001f44d", LONG + "\U0001f44e"),
    "Chinese number": ("超时时间是30秒", "超时时间是60秒"),
    "Chinese negation": (
        "这个服务可以在生产环境里使用，请注意",
        "这个服务不可以在生产环境里使用，请注意",
    ),
    "Japanese negation": (
        "このサービスは本番環境で使うことができます",
        "このサービスは本番環境で使うことができません",
    ),
    "code, another function": (
        "def load(db, key):\n    row = db.query(key)\n    return row.name if row else None",
        "def save(db, key):\n    row = db.query(key)\n    return row.name if row else None",
    ),
    "code, another operator": (
        "for (i = 0; i < n; i++) {\n  total += price[i];\n}",
        "for (i = 0; i < n; i++) {\n  total -= price[i];\n}",
    ),
    "code, another name": ("if (a < b) {\n  return width;\n}", "if (a < b) {\n  return height;\n}"),
    "code, a not": ("if (ready) {\n  go();\n}", "if (!ready) {\n  go();\n}"),
    "code, another order": ("open(a);\nclose(b);\n", "close(b);\nopen(a);\n"),
    "code, another comment": (f"{CODE}    # never cached\n", f"{CODE}    # always cached\n"),
    "code, a line that is commented out": (
        f"{CODE}    row.close()\n",
        f"{CODE}    # row.close()\n",
    ),
    "code, a divisor": (
        f"{CODE}    return row.total // 10\n",
        f"{CODE}    return row.total\n",
    ),
    "code, a string with a hash": (
        f"{CODE}    show('row  # one')\n",
        f"{CODE}    show('row  ')\n",
    ),
}


@pytest.mark.parametrize(("text", "copy"), COPIES.values(), ids=COPIES)
def test_an_edit_that_keeps_the_meaning_makes_a_copy(text: str, copy: str) -> None:
    """Whichever of the two scores best, the other is its duplicate."""
    assert merges(text, copy) == [True, True]


@pytest.mark.parametrize(("text", "other"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_contradiction_is_no_copy(text: str, other: str) -> None:
    """Texts that differ in what matters are both kept, however similar."""
    assert merges(text, other) == [False, False]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("", ""),
        ("!!!", "???"),
        ("a", "b"),
        ("I like tea", "I like coffee"),
        ("thanks", "thanks a lot"),
    ],
)
def test_other_texts_are_no_copies(text: str, other: str) -> None:
    """Empty texts, mere punctuation and short sentences about other things are kept."""
    assert merges(text, other) == [False, False]


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("case and punctuation", 0.95, 1),
        ("white space", 0.95, 1),
        ("a dropped word", 0.9, 1),
        ("a prefix", 0.95, 1),
        ("swapped", 0.95, 1),
        ("a flip", 0, 0),
    ],
)
def test_declared_edits_of_prose(kind: str, least: float, most: float) -> None:
    """Each meaning-keeping edit is caught, but for dropped negations and names; no flip is."""
    rng = random.Random(3)
    texts = passages()

    caught = sum(all(merges(text, edited(text, kind, rng))) for text in texts) / len(texts)

    assert least <= caught <= most


def test_the_best_scored_stays_and_takes_the_others_provenance() -> None:
    """The winner keeps its place and names where else it was found, best first."""
    first = item("notes", "Prefer tabs in Makefiles", id="n1", location="notes.md:3")
    best = item("memories", "Prefer tabs in Makefiles.", id="m1")
    third = item(
        "values", "prefer tabs in makefiles", id="v1", also_in=(Provenance("events", "e1"),)
    )
    other = item("notes", "Something else entirely", id="n2")

    result = run(first, best, third, other, scores=(0.5, 0.9, 0.4, 0.1))

    assert result.kept == (1, 3)
    assert result.duplicate_of == {0: (1, "same text"), 2: (1, "same text")}
    assert result.items[0].also_in == (
        Provenance("notes", "n1", "notes.md:3"),
        Provenance("values", "v1"),
        Provenance("events", "e1"),
    )
    assert result.items[1] is other


def test_why_is_said_in_words() -> None:
    """Each route names itself."""
    text = LONG + "and nobody minds"

    result = run(
        item("a", text, id="1"),
        item("a", "anything", id="1"),
        item("b", text.upper(), id="2"),
        item("b", text.replace("whole", "entire"), id="3"),
        item("b", "and nobody minds the report, " + text, id="4"),
        item("b", "and nobody minds " + LONG, id="5"),
        item("c", "Short text of words", id="6"),
        item("c", "FYI short text of words", id="7"),
    )

    assert {loser: why for loser, (_, why) in result.duplicate_of.items()} == {
        1: "same record",
        2: "same text",
        3: "96% alike",
        5: "same clauses in another order",
        7: "same text but for a prefix or a word",
    }


def test_a_key_joins_items_of_different_sources_only() -> None:
    """Six functions of one file stay six; the commit of that file joins the best of them."""
    functions = [item("code", f"function {name}", id=name) for name in "abcdef"]
    commit = item("commits", "change to a file", id="sha")
    keys = [["file:a.py"]] * 7

    result = deduplicate([*functions, commit], [0.9] * 6 + [0.5], keys)

    assert result.kept == (0, 1, 2, 3, 4, 5)
    assert result.duplicate_of == {6: (0, "same key file:a.py")}
    assert result.items[0].also_in == (Provenance("commits", "sha"),)


def test_a_winner_takes_one_item_of_a_source_by_a_key() -> None:
    """A commit that scores best takes the best function of its file; the others stay."""
    functions = [item("code", f"function {name}", id=name) for name in "abc"]
    commit = item("commits", "change to a file", id="sha")

    result = deduplicate([*functions, commit], [0.5, 0.6, 0.4, 0.9], [["file:a.py"]] * 4)

    assert result.duplicate_of == {1: (3, "same key file:a.py")}


def test_a_key_joins_texts_that_differ_in_a_number() -> None:
    """Who names the same thing says so: a key is stronger than the texts."""
    result = deduplicate(
        [item("a", "version 1", id="1"), item("b", "version 2", id="2")], [1, 1], [["x"], ["x"]]
    )

    assert result.kept == (0,)


def test_a_loser_takes_no_others_with_it() -> None:
    """What is like a loser, but not like its winner, stays."""
    words = PROSE.split()[:60]
    middle = " ".join(words)
    left = " ".join(words[6:])
    right = " ".join(words[:-6])

    result = run(item("a", left, id="1"), item("b", middle, id="2"), item("c", right, id="3"))

    assert fuzz.ratio(left, right) < 90
    assert result.duplicate_of.keys() == {1}


def test_the_own_text_is_compared_and_not_its_formatting() -> None:
    """Records of one wording are duplicates though their sources show them differently."""
    same = run(
        item("a", "**Memory**: tabs", text="We use tabs", id="1"),
        item("b", "Value (9 members): tabs!", text="we use tabs", id="2"),
    )
    other = run(
        item("a", "**Memory**: tabs", text="We use tabs", id="1"),
        item("b", "**Memory**: tabs", text="They prefer spaces", id="2"),
    )

    assert same.kept == (0,)
    assert other.kept == (0, 1)


def test_a_threshold_of_one_asks_for_the_same_text() -> None:
    """Near copies, prefixes and other orders stay; case and punctuation do not count."""
    text = LONG + "and nobody minds"

    result = run(
        item("a", text, id="1"),
        item("b", text.replace("whole ", ""), id="2"),
        item("c", text.upper() + "!", id="3"),
        threshold=1,
    )

    assert result.duplicate_of.keys() == {2}


@pytest.mark.parametrize(
    ("scores", "keys", "threshold", "message"),
    [
        ([1.0], [(), ()], 0.9, "one score and one list of keys per item, got 2 items, 1 scores"),
        ([1.0, 1.0], [()], 0.9, "2 scores and 1 lists of keys"),
        ([1.0, 1.0], [(), ()], 0.0, "threshold must be over 0 and at most 1, got 0.0"),
        ([1.0, 1.0], [(), ()], 1.1, "got 1.1"),
    ],
)
def test_arguments_that_do_not_fit_are_an_error(
    scores: list[float], keys: list[tuple[str, ...]], threshold: float, message: str
) -> None:
    """The error says what was given and what is expected."""
    with pytest.raises(ValueError, match=re.escape(message)):
        deduplicate([item("a", "x", id="1"), item("a", "y", id="2")], scores, keys, threshold)


def test_a_book_is_a_copy_of_its_equal_alone() -> None:
    """Long texts are compared by what they are, but for case and white space."""
    book = PROSE * 4
    result = run(
        item("a", book, id="1"),
        item("a", f"{book} More.", id="2"),
        item("b", book.upper().replace(" ", "\n"), id="3"),
    )

    assert len(book) > 10_000
    assert result.kept == (0, 1)
    assert result.duplicate_of[2] == (0, "same text")


def test_a_thousand_long_items_take_little_more_than_a_hundred() -> None:
    """Of very much text the longest items are not compared with each other."""
    rng = random.Random(5)
    words = PROSE.split()
    texts = [" ".join(rng.choices(words, k=1_500)) + f" Item {number}." for number in range(1_000)]
    items = [item("a", text, id=str(number)) for number, text in enumerate(texts)]

    def take(count: int) -> float:
        start = time.thread_time()
        assert len(run(*items[:count]).kept) == count
        return time.thread_time() - start

    take(2)
    assert take(1_000) < 40 * max(take(100), 0.02)


def test_the_longest_texts_alone_are_not_compared() -> None:
    """Short copies are found among any amount of long texts."""
    long = [f"{PROSE * 3} {number}" for number in range(1_000)]
    result = run(
        *(item("a", text, id=str(number)) for number, text in enumerate(long)),
        item("b", "The build is green, finally.", id="x"),
        item("c", "the build is green finally", id="y"),
    )

    assert set(result.duplicate_of) == {1_001}
