"""What a query says of itself, and what plugins add to that."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit import (
    ContextItem,
    ContextRequest,
    InvalidRequestError,
    QuerySignals,
    Recipe,
    RecipeTemplate,
    Section,
    hookimpl,
)
from contextkit.config.settings import Config
from contextkit.pipeline.request import make_request
from contextkit.text.questions import is_talk, names_one_thing, signals_of
from tests.making import KEYWORDS, OpenKit, make_plugin

# -- the query's own words ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("Fix the login", "fix"),
        ("an ERROR occurs, what is it?", "fix"),
        ("the tests are failing since Monday", "fix"),
        ("bug-fix for the parser", "fix"),
        # Seed 3 looks for "fix", "bug" and "error" as parts of words.
        ("prefix the name", "action"),
        ("where does the debugger's suffix come from?", "question"),
        ("what would terrorise the parser?", "question"),
        ("rename fix_typo to mend_typo", "action"),
        ("who calls errors.py?", "question"),
        ("how does it work", "explain"),
        ("What is a lane?", "explain"),
        ("what's a lane", "explain"),
        ("explain lanes", "explain"),
        ("is it what it was?", "question"),
        ("why do we retry", "question"),
        ("should we add a flag?", "question"),
        ("could you add a flag?", "action"),
        ("can you hear?", "question"),
        ("we need to refactor the registry", "action"),
        ("please memoise the counter", "action"),
        ("a fence, a table and the end", "other"),
        ("token budget", "other"),
        ("数据 怎么 处理", "other"),
        ("", "other"),
        ("?", "question"),
    ],
)
def test_what_is_wanted(query: str, intent: str) -> None:
    """By whole words, in the seed's order; no part of a word or of a name says anything."""
    assert signals_of(query).intent == intent


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("where is max_tokens set?", ["max_tokens"]),
        ("does `store.url` win over MAX_TOKENS?", ["store.url", "MAX_TOKENS"]),
        ("who calls fit() and Composer.text()?", ["fit", "Composer.text"]),
        ("look at contextkit/budget/shares.py:13, please", ["contextkit/budget/shares.py:13"]),
        ("what is in contextkit/store/?", ["contextkit/store/"]),
        ("./a.sh, ../a.py, ~/x or /etc/hosts", ["./a.sh", "../a.py", "~/x", "/etc/hosts"]),
        ("read/write and client/server, e.g. i.e. and/or", []),
        ('we saw "connection reset by peer" again', ["connection reset by peer"]),
        ("we saw “no route” again", ["no route"]),
        (
            "ask Ada Lovelace of Acme about Qdrant, Berlin",
            ["Ada Lovelace", "Acme", "Qdrant", "Berlin"],
        ),
        ("Fix Qdrant now. Nobody knows why", ["Qdrant"]),
        ("LLM context, BM25 search", ["LLM", "BM25"]),
        ("WHY IS IT SLOW", []),
        ("parseQuery or QuerySignals", ["parseQuery", "QuerySignals"]),
        ("std::vector and a->next_one", ["std::vector", "a->next_one"]),
        ("_private, __init__ and _", ["_private", "__init__"]),
        ("--max-tokens of https://x.org/a?b=1.", ["--max-tokens", "https://x.org/a?b=1"]),
        ("max_tokens and max_tokens", ["max_tokens"]),
        ("", []),
    ],
)
def test_names(query: str, entities: list[str]) -> None:
    """Identifiers, dotted names, paths, quoted phrases and capitalised names, each once."""
    assert list(signals_of(query).entities) == entities


def test_keywords() -> None:
    """Words in lower case and in their order, each once, without those that every text has."""
    signals = signals_of("Why don't we cap the Items of a lane? Cap ITEMS: 数 x max_tokens")
    assert signals.keywords == ("cap", "items", "lane", "数", "max_tokens")


@pytest.mark.parametrize(
    "query", ["A " * 5000, "a.b/" * 5000, '"' * 9000, "x_" * 9000, "word " * 100_000, "\ud800 x"]
)
def test_a_long_or_odd_query_has_few_signals(query: str) -> None:
    """No more than 64 of each, none of them longer than a name is."""
    signals = signals_of(query)
    assert len(signals.keywords) <= 64
    assert len(signals.entities) <= 64
    assert all(0 < len(name) <= 120 for name in signals.entities)


def test_signals_are_united() -> None:
    """Each once, the first ones first; what is wanted is told by who knows it."""
    first = QuerySignals(keywords=["a", "b"], entities=["E"], kinds=["error"])
    second = QuerySignals(keywords=["b", "c"], intent="fix", kinds=["error", "shell"])
    assert first.united(second) == QuerySignals(
        keywords=["a", "b", "c"], entities=["E"], intent="fix", kinds=["error", "shell"]
    )
    assert QuerySignals(intent="explain").united(second).intent == "explain"


@pytest.mark.parametrize("wrong", [{"kinds": "error"}, {"keywords": None}, {"intent": "mend"}])
def test_signals_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    """A text is not several texts, and an intent is one of five."""
    with pytest.raises((TypeError, ValueError)):
        QuerySignals(**wrong)


# -- what plugins add ---------------------------------------------------------------------------


class Asked:
    """A source that keeps the requests it got."""

    def __init__(self, items: list[ContextItem] | None = None) -> None:
        self.items = items or []
        self.requests: list[ContextRequest] = []

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        self.requests.append(request)
        return self.items


@pytest.mark.parametrize(
    ("query", "topics"),
    [
        ("where is the session cookie signed?", ["code"]),
        ("why does the client retry?", ["code", "history"]),
        ("why did we drop the old parser?", ["history"]),
        # What goes wrong is mended in the code.
        ("why does the client hang after a retry?", ["failures"]),
        ("why is my hook not called?", ["failures"]),
        ("why doesn't it follow redirects?", ["failures"]),
        ("why is the lock not simply a file?", ["code", "history"]),
        ("when was the cap introduced?", ["history"]),
        ("wer hat das Limit geändert?", ["history"]),
        ("是谁改了缓存?", ["history"]),
        ("what changed in click 8.2?", ["releases"]),
        ("which features were added in version 5", ["releases"]),
        ("how do I migrate from v3 to v4?", ["releases", "usage"]),
        ("was ist neu in 5.0?", ["releases"]),
        ("which versions are supported?", ["setup"]),
        ("which version of numpy is required?", ["setup"]),
        ("which dependencies does it have?", ["setup"]),
        ("what scripts does package.json define?", ["setup"]),
        ("drop support for Python 3.11", ["setup"]),
        ("support Node.js 26", ["setup"]),
        ("support OAuth 2", ["code"]),
        ("which version added the flag?", ["releases"]),
        ("since which version is it there?", ["releases"]),
        ("how does it decide which version to install?", ["code"]),
        ("where is the changelog written?", ["releases", "code"]),
        ("what changed in the last 3 commits", ["history"]),
        ("what does this project do?", ["overview"]),
        ("how is the code base structured?", ["overview"]),
        ("explain the architecture of this repo", ["overview"]),
        ("I'm new here. Where do I start?", ["overview"]),
        ("what is the project id?", ["code"]),
        ("when was the last release?", ["releases"]),
        ("list all command line flags", ["usage"]),
        ("what changed recently?", ["history", "activity"]),
        ("what are the latest commits?", ["history"]),
        ("commits by Ada", ["history"]),
        ("what did Ada change?", ["history"]),
        ("what was merged this week?", ["history"]),
        ("what changed in the latest release?", ["releases"]),
        ("how do I upgrade from shelf 2 to 3?", ["releases", "usage"]),
        ("what are the highlights of the newest version?", ["releases"]),
        ("where are the latest commits read?", ["history", "code"]),
        ("how are recent changes computed?", ["history", "code"]),
        ("how do I install the latest version?", ["usage"]),
        ("how is a file added in 2 steps", ["code"]),
        ("what did we decide about logging?", ["decisions"]),
        ("what is our policy on evictions?", ["decisions"]),
        ("where is the eviction policy applied?", ["decisions", "code"]),
        ("what did I just do?", ["activity"]),
        ("decoding an empty response raises", ["failures"]),
        ("how do I configure a proxy?", ["usage"]),
        ("how do I retry a failed task?", ["usage"]),
        ("how do I fix a failed task?", ["failures", "usage"]),
        ("which embedding models can I use?", ["usage"]),
        ("what options does the parser take?", ["usage"]),
        ("which python versions does CI test?", ["setup"]),
        ("which workflow publishes the wheels?", ["setup"]),
        ("what does the release workflow do?", ["setup"]),
        ("how is coverage configured?", ["setup"]),
        ("how is a release published?", ["setup"]),
        ("how many replicas does the statefulset have?", ["setup"]),
        ("how is an event published?", ["code"]),
        ("where is the proxy configured?", ["code"]),
        ("where are options parsed?", ["code"]),
        ("how is a document saved?", ["code"]),
        ("document how it is saved", ["usage"]),
        ("how are the docs built?", ["usage", "code"]),
        ("continue", ["code"]),
        ("digest auth", ["code", "usage"]),
        ("timeouts", ["code", "usage"]),
        ("session cookie signing", ["code", "usage"]),
        ("HTTPAdapter", ["code"]),
        ("mount()", ["code"]),
        ("add a flag", ["code"]),
        ("what does mount do", ["code"]),
        ("Wie begrenze ich die Größe?", ["usage"]),
        ("comment limiter la taille ?", ["usage"]),
        ("¿cómo limito el tamaño?", ["usage"]),
        ("如何限制大小？", ["usage"]),
        ("大小是怎么限制的？", ["code"]),
    ],
)
def test_what_is_asked_about(query: str, topics: list[str]) -> None:
    """Its words say whether code, history, release notes, a decision or what is going on answers.

    A few words that ask nothing are about code, and about how to use it.
    """
    assert list(signals_of(query).topics) == topics


@pytest.mark.parametrize(
    ("query", "is_one"),
    [
        ("dispatch_request", True),
        ("what does dispatch_request do?", True),
        ("where is `Mux.ServeHTTP` defined", False),
        ("how does dispatch_request handle a redirect?", False),
        ("how are redirects handled?", False),
    ],
)
def test_a_question_about_one_name_is_told(query: str, is_one: bool) -> None:
    """What defines it is wanted then, and not all that mentions it."""
    assert names_one_thing(query) is is_one


def test_a_topic_that_a_plugin_knows_is_stronger_than_none() -> None:
    """A question is about code where nothing else is said of it."""
    activity, code = QuerySignals(topics=["activity"]), QuerySignals(topics=["code"])
    assert code.united(activity).topics == ("activity",)
    assert code.united(QuerySignals()).topics == ("code",)
    both = QuerySignals(topics=["code", "history"])
    assert both.united(activity).topics == ("code", "history", "activity")


async def test_sources_get_what_plugins_know(open_kit: OpenKit) -> None:
    """`contextkit_signals` of every plugin that is on is united, and stands in the trace."""
    asked = []

    def contextkit_signals(query: str, signals: QuerySignals) -> QuerySignals:
        asked.append((query, signals))
        return QuerySignals(kinds=["storm"], entities=["Dover"])

    tide = Asked()
    kit = open_kit(
        {
            "tide": tide,
            "weather": make_plugin(contextkit_signals=contextkit_signals),
            "silent": make_plugin(contextkit_signals=lambda: None),
            "words": make_plugin(contextkit_signals=lambda: QuerySignals(keywords=["wind"])),
            "off": make_plugin(contextkit_signals=lambda: QuerySignals(keywords=["off"])),
        },
        settings=KEYWORDS,
    )
    kit.disable("off")
    context = await kit.assemble_context("fix the tide_table")

    own = signals_of("fix the tide_table")
    assert asked == [("fix the tide_table", own)]
    expected = QuerySignals(
        keywords=["fix", "tide_table", "wind"],
        entities=["tide_table", "Dover"],
        intent="fix",
        kinds=["storm"],
        topics=["code"],
    )
    assert [request.signals for request in tide.requests] == [expected]
    assert context.trace.signals == expected
    assert context.as_dict()["trace"]["signals"]["kinds"] == ["storm"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RuntimeError("no"), "RuntimeError: no"),
        (["storm"], "expected QuerySignals, got a list"),
        (QuerySignals(kinds=[5]), "entry 0 is an int, expected str"),  # type: ignore[list-item]
    ],
)
async def test_a_plugin_that_fails_costs_its_own_signals(
    open_kit: OpenKit, answer: Any, reason: str
) -> None:
    """The others' stay, the context is assembled, and the trace names who failed."""

    def contextkit_signals(query: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    kit = open_kit(
        {
            "bad": make_plugin(contextkit_signals=contextkit_signals),
            "good": make_plugin(contextkit_signals=lambda: QuerySignals(kinds=["storm"])),
            "tide": make_plugin([ContextItem("tide", "High water", 0.9)]),
        },
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("tide")
    assert context.trace.signals.kinds == ("storm",)
    assert [item.content for item in context.items] == ["High water"]
    (note,) = context.trace.notes
    assert note.startswith("bad: contextkit_signals failed")
    assert reason in note


async def test_a_section_with_a_query_of_its_own_has_its_signals(open_kit: OpenKit) -> None:
    """The hook is called once for each query, however many sections ask it."""
    tide, queries = Asked(), []

    def contextkit_signals(query: str) -> None:
        queries.append(query)

    sections = [
        Section(source="tide", key="a"),
        Section(source="tide", key="b", query="why is tide_b so low?"),
        Section(source="tide", key="c", query="why is tide_b so low?"),
    ]
    recipe = Recipe(name="two", title="explain tide_a", sections=tuple(sections))
    template = RecipeTemplate(name="two", description="two", build=lambda: recipe)
    kit = open_kit(
        {
            "tide": tide,
            "other": make_plugin(
                contextkit_recipes=lambda: [template], contextkit_signals=contextkit_signals
            ),
        },
        settings=KEYWORDS,
    )
    await kit.assemble_recipe("two", {})
    found = {request.query: request.signals for request in tide.requests}
    assert {query: (s.intent, s.entities) for query, s in found.items()} == {
        "explain tide_a": ("explain", ("tide_a",)),
        "why is tide_b so low?": ("question", ("tide_b",)),
    }
    assert sorted(queries) == ["explain tide_a", "why is tide_b so low?"]


def test_a_host_cannot_give_signals() -> None:
    """They are made of the query."""
    with pytest.raises(InvalidRequestError, match="has no option 'signals'"):
        make_request(Config(), "x", project="", workspace=None, signals=QuerySignals())


@pytest.mark.parametrize(
    "query",
    [
        *("fix", "hello", "thanks!", "OK", "Can you help me?", "Great, that works now."),
        *("what do you think?", "yes, please do it", "I don't know", "let's go on"),
    ],
)
def test_talk_names_nothing_to_search_for(query: str) -> None:
    """Greetings, thanks, assent and asking on, whatever their case."""
    assert is_talk(query)


@pytest.mark.parametrize(
    "query",
    [
        *("", "?!", "budget", "fix the parser", "`help`()", "--help", "fix()", "help.py"),
        *("next", "mean?", "wait", "help"),
        *(
            "codes.OK",
            "thanks for the index",
            "hi\nNameError: name 'shares' is not defined",
            "预算",
        ),
    ],
)
def test_what_names_anything_is_no_talk(query: str) -> None:
    """One word that is about something is enough, and so is what is written as code."""
    assert not is_talk(query)
