"""Words that a question spells in another way than code find that."""

from __future__ import annotations

import pytest

from contextkit import ContextKit, Record
from contextkit.text.spellings import joined_words, with_spellings, without_quantity
from tests.making import OpenKit, from_records, make_plugin


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("why does it time out?", "why does it time out timeout?"),
        ("the pool Timed out", "the pool Timed out timeout"),
        ("how are file names rolled back?", "how are file names filename rolled back rollback?"),
        ("how do I log in?", "how do I log in login?"),
        ("where do users log in with a token?", "where do users log in login with a token?"),
        ("how is it Synchronised?", "how is it Synchronised Synchronized sync?"),
        ("the environment of an administrator", "the environment env of an administrator admin"),
        ("its Maximum size", "its Maximum max size"),
        ("analyse misbehaviours", "analyse analyze misbehaviours misbehaviors"),
        ("colours of an unauthorised call", "colours colors of an unauthorised unauthorized call"),
        ("send an e-mail from the back-end", "send an e-mail email from the back-end backend"),
    ],
)
def test_the_spelling_of_code_stands_behind_the_question_s(question: str, searched: str) -> None:
    """The words themselves stay, as documentation may have them."""
    assert with_spellings(question) == searched


@pytest.mark.parametrize(
    "question",
    ["what does it log in JSON?", "the timeout", "times outside", "our noise raises four courses"],
)
def test_other_words_stay_as_they_are(question: str) -> None:
    """A log in a format is no login, and four is no British word."""
    assert with_spellings(question) == question


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("How long is a session valid?", "How is a session valid?"),
        ("how many workers are there?", "how workers are there?"),
        ("how is a long session stored?", "how is a long session stored?"),
    ],
)
def test_the_quantity_that_is_asked_for_is_not_searched_for(question: str, searched: str) -> None:
    """Long texts and long names do not say how long something takes."""
    assert without_quantity(question) == searched


async def test_a_record_with_the_compound_is_found_first(open_kit: OpenKit) -> None:
    """Before one that has the verb alone in another sense."""
    kit: ContextKit = open_kit({"notes": make_plugin(contextkit_query=from_records)})
    kit.records("notes").put(
        [
            Record(
                id="clock", text="The time of a connection is counted by the clock of the host."
            ),
            Record(id="limit", text="TIMEOUT = 5 is the limit of a connection in seconds."),
        ]
    )
    context = await kit.assemble_context("why does a connection time out?")
    assert context.items[0].id == "limit"


def test_a_word_and_its_spelling_in_code_count_as_one(open_kit: OpenKit) -> None:
    """What has either has all of the word: it answers as well as what has the question's own."""
    records = open_kit({"notes": make_plugin(contextkit_query=from_records)}).records("notes")
    records.put([Record(id="tide", text="Sync the color of the tide.")])
    [asked], [spelled] = (
        records.search_sync(query, limit=1)
        for query in ("synchronised colours of a tide", "sync colors of a tide")
    )
    assert asked.relevance == pytest.approx(spelled.relevance, abs=0.1)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("where is the diff context size?", "diff_context context_size diff_context_size"),
        ("what is the Max-Age of a session token?", "max_age session_token"),
        ("retry, limit", ""),
    ],
)
def test_neighbouring_words_may_spell_a_name(question: str, names: str) -> None:
    """Stop words and punctuation separate names."""
    assert joined_words(question) == names


def test_a_name_is_found_before_its_words_apart(open_kit: OpenKit) -> None:
    """A long text may have the words anywhere; what has no such name loses nothing."""
    records = open_kit({"notes": make_plugin(contextkit_query=from_records)}).records("notes")
    records.put([Record(id="apart", text="A diff has a context; the size of a page is another.")])
    query = "make the diff context size persistent"
    [alone] = records.search_sync(query, limit=1)
    records.put([Record(id="named", text="The tide is low and the moon is new: diffContextSize.")])
    best, other = records.search_sync(query, limit=2)
    assert (best.record.id, other.record.id) == ("named", "apart")
    assert alone.relevance == pytest.approx(best.relevance, abs=0.1)
