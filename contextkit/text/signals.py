"""A query's signals: keywords, names, intent, and topics.

Topics are found by patterns over the question in lower case, in several languages. A question
without a known topic is about code, as most questions to a coding agent are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from attrs import evolve, field, frozen
from attrs.validators import deep_iterable, in_

Intent = Literal["question", "action", "fix", "explain", "other"]
INTENTS: tuple[Intent, ...] = ("question", "action", "fix", "explain", "other")
Topic = Literal[
    "code", "overview", "usage", "setup", "history", "releases", "decisions", "activity", "failures"
]
TOPICS: tuple[Topic, ...] = get_args(Topic)


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"expected several texts, got {given!r}")
    return tuple(given)


@frozen(kw_only=True)
class QuerySignals:
    """The signals of a query.

    Attributes:
        keywords: its words in lower case, in order, without stop words; at most 64. A word in
            another language is followed by its English translations.
        entities: its names as written: identifiers, dotted names, file paths, quoted phrases and
            capitalised names; at most 64.
        intent: `fix`, `explain`, `question`, `action`, or `other` if its words do not show it.
        kinds: the kinds of items that matter most for the query, according to plugins.
        topics: its topics: `code` (how it works, where it is), `overview` (what the project is,
            and how it is organized), `usage` (how to use or configure
            it), `setup` (by which jobs and settings it is tested, released and deployed, what it
            needs), `history` (when, who, why it changed), `releases` (what is new in a version,
            how to upgrade), `decisions` (what was agreed), `activity` (what is going on),
            `failures` (what went wrong). They determine which sources are
            likely to have the answer: see `SourceInfo.answers`.
    """

    keywords: tuple[str, ...] = field(default=(), converter=_texts)
    entities: tuple[str, ...] = field(default=(), converter=_texts)
    intent: Intent = field(default="other", validator=in_(INTENTS))
    kinds: tuple[str, ...] = field(default=(), converter=_texts)
    topics: tuple[Topic, ...] = field(
        default=(), converter=_texts, validator=deep_iterable(in_(TOPICS))
    )

    def united(self, more: QuerySignals) -> QuerySignals:
        """Merge other signals into these.

        An intent other than `other` stays.

        The topic `code` alone, which is the default, is replaced by other topics.
        """
        own = () if more.topics and self.topics == ("code",) else self.topics
        return evolve(
            self,
            keywords=dict.fromkeys((*self.keywords, *more.keywords)),
            entities=dict.fromkeys((*self.entities, *more.entities)),
            intent=more.intent if self.intent == "other" else self.intent,
            kinds=dict.fromkeys((*self.kinds, *more.kinds)),
            topics=dict.fromkeys((*own, *more.topics)),
        )


def _any_of(*phrases: str) -> re.Pattern[str]:
    """Make one pattern of whole phrases."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)")


_IN_A_VERSION = (
    r"(?:[\w-]+ ){0,3}?(?:in|since|with|from|to|until|between) (?:[\w-]+ ){0,2}?"
    r"(?:(?:version |release |v)\d+|v?\d+\.\w+)"
)
"""The end of "features were added in click 8.2"."""

_WORDS = r"(?:[\w'-]+ ){0,6}?"
_A_RELEASE = (
    r"(?:the |our |its )?"
    r"(?:last|latest|newest|(?:most )?recent|current|new|next|upcoming|previous) "
    r"(?:[\w.-]+ ){0,2}?(?:releases?|versions?)"
)
_COMMITS = "(?:commits?|changes|merges|pull requests?|prs?)"
_A_TIME = (
    r"today|yesterday|(?:this|last|past) (?:day|week|month|year)"
    r"|(?:in|over|during|within) the (?:last|past)"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:19|20)\d\d)"
)
_TOOLS = (
    r"black|biome|checkstyle|clippy|codecov|coverage|eslint|flake8|golangci-lint|isort|jest|lint(?:er|ing)?"
    r"|mypy|nox|phpstan|prettier|pylint|pytest|rubocop|ruff|rustfmt|tox|tsconfig|type check\w*"
)

_LANGUAGES = (
    r"c?python|elixir|go|java|jdk|kotlin|node(?:\.?js)?|php|pypy|ruby|rust|scala|swift|typescript"
)

_USE = "(?:use|set|choose|configure|change|disable|enable|install|pass|run|turn)"

_PROJECT = (
    "(?:this|the|our) (?:(?:whole|entire) )?(?:project|repo(?:sitory)?|code ?base|package|library"
    "|framework|app(?:lication)?|program|tool|crate|plugin|service|extension)"
)
_AT_THE_END = r"(?=\s*+[?.!]*+\s*+$)"

_SPACED: Mapping[Topic, re.Pattern[str]] = {
    "overview": _any_of(
        rf"what (?:is|does) {_PROJECT}(?: do| about| for)?{_AT_THE_END}",
        f"what is this(?: all)? about{_AT_THE_END}",
        "(?:overview|architecture|structure|layout|organi[sz]ation|purpose|big picture) of "
        f"{_PROJECT}",
        f"(?:explain|describe|summari[sz]e|understand|about|through) {_PROJECT}{_AT_THE_END}",
        f"how is {_PROJECT} (?:structured|organi[sz]ed|laid out)",
        "(?:project|repo(?:sitory)?|code ?base|folder|directory) (?:structure|layout|overview)",
        f"where (?:do|should|can) i (?:start|begin)(?: reading)?{_AT_THE_END}|new to {_PROJECT}",
    ),
    "setup": _any_of(
        r"(?:which|what|minimum) (?:[\w.+#-]+ ){0,4}?versions? (?:of [\w.-]+ )?(?:[\w-]+ ){0,3}?"
        r"(?:requires?|required|supports?|supported|needs?|needed|uses?|used|depends? on)",
        r"minimum supported [\w+#-]+ version|(?:which|what) licen[sc]e|licen[sc]ed under",
        r"(?:which|what) (?:[\w-]+ )?dependencies|(?:test|dev|build|runtime) requirements",
        r"package\.json|pyproject(?:\.toml)?|cargo\.toml|go\.mod|pom\.xml|composer\.json|gemfile"
        r"|setup\.(?:py|cfg)|requirements\.txt|dockerfile|makefile|tsconfig\.json|npm scripts?",
        "ci(?:/cd)?|continuous integration|github actions?|gitlab|dependabot|renovate|circleci",
        "(?:which|what) (?:crates|workspaces|gems) (?:are|do|does)",
        "(?:which|what) (?:[\\w-]+ )?(?:workflows?|linters?)|pre-?commit hooks?|docker[- ]?compose",
        r"(?:release|publish\w*|deploy\w*|build|test\w*|lint\w*|docs|nightly) "
        r"(?:workflow|pipeline|job|matrix)s?",
        rf"(?:{_TOOLS}) (?:is |are |get )?(?:config\w*|settings?|set up|rules?|run in)",
        r"(?:packages?|releases?|docs|documentation|images?|wheels?|site) (?:[\w-]+ )?"
        r"(?:released|published|deployed|uploaded)|pypi|npm registry|docker ?hub|ghcr",
        rf"(?:support|drop|requir)\w* (?:support )?(?:for )?(?:{_LANGUAGES}) v?\d++",
        "kubernetes|k8s|helm|kustomiz\\w+|statefulsets?|daemonsets?|configmaps?|replicas|deployments?",
    ),
    "history": _any_of(
        "(?:when|why|who) (?:was|were|did|has|have|had)|since when|used to",
        "who (?:wrote|added|changed|removed|broke|made|introduced)",
        "(?:which|what|whose) (?:commits?|pull request)|what changed",
        "changed (?:since|between|in the last)|introduced (?:in|by)|git (?:log|blame)",
        rf"(?:last|latest|newest|(?:most )?recent) (?:[\w-]+ ){{0,2}}?{_COMMITS}",
        rf"(?:chang\w+|happened|added|fixed|removed|merged) {_WORDS}(?:recently|lately|{_A_TIME})",
        rf"what (?:did|has) (?:[\w-]+ ){{1,2}}?(?:change|commit|merge)d?|{_COMMITS} (?:by|from)",
        "wann (?:wurden?|hat|haben|kam)|wer hat|seit wann|warum (?:wurden?|haben|hat)",
        "quand (?:a|ont|avons)|qui a|depuis quand|pourquoi (?:a|ont|avons|avez)",
        "cuándo (?:se|fue|hemos)|quién|desde cuándo|por qué (?:se|hemos|han)",
    ),
    "releases": _any_of(
        "changelogs?|release notes?|breaking changes?|what(?: is|'?s) new",
        # Not "how does it decide which version to install?".
        r"(?:^\s*+|[^\w\s] |(?:for|from|in|me|of|on|say|since|to|until|with) )"
        "(?:which|what) (?:versions?|releases?)",
        rf"(?:chang\w+|added|removed|fixed|new|features?|fixes|highlights?) {_WORDS}{_A_RELEASE}",
        rf"(?:migrat\w+|upgrad\w+|moving) {_WORDS}(?:from|to) (?:{_A_RELEASE}|(?:[\w-]+ )?v?\d)",
        rf"(?:what|when)(?: is|'s| was) {_A_RELEASE}",
        rf"(?:chang\w+|added|removed|fixed|new|features?|fixes) {_IN_A_VERSION}",
        rf"(?:migrat\w+|upgrad\w+|updat(?:e|ing)) {_IN_A_VERSION}",
        "was ist neu|neuerungen|quoi de neuf|nouveautés|qué hay de nuevo|novedades",
    ),
    "decisions": _any_of(
        "(?:did|have) we (?:decided?|agreed?|chosen?)|decisions?|conventions?|guidelines?",
        "polic(?:y|ies)|preferences?|house rules|the rules for|should (?:we|i)|do we|our",
        "entschieden|entscheidung(?:en)?|konventionen|vereinbart|sollen wir|haben wir uns",
        "avons-nous décidé|décisions?|devons-nous|decidimos|decisión|convenciones|debemos",
    ),
    "activity": _any_of(
        "what (?:am|was|were|did|have) (?:i|we|you) (?:just )?(?:do|doing|done|chang\\w+|edit\\w*)",
        "left off|going on|uncommitted",
        "(?:working|worked) on|(?:work )?in progress|(?:last|this) session|open files?",
        "yesterday|recently|current (?:branch|task|work)|status of (?:the|this|our)",
        "woran (?:habe|war|arbeite)|gestern|zuletzt|récemment|ayer|recientemente",
    ),
    "failures": _any_of(
        "errors?|exceptions?|traceback|stack ?trace|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?",
        "broken|bugs?|regression|does(?:n't| not) work|went wrong|goes wrong|raises",
        "fehler|absturz|kaputt|funktioniert nicht|erreur|plante|échoue|falla|fallo",
    ),
    "usage": _any_of(
        "how (?:do|can|could|should|would) (?:i|we|you|one)|how to|getting started",
        rf"(?:can|may|could|should) (?:i|we|you|one) {_USE}|is it possible to {_USE}",
        r"(?:which|what) (?:[\w-]+ )?(?:settings?|options?|flags?|environment variables?)",
        r"(?:list|show)(?: me)? (?:[\w-]+ ){0,4}?(?:settings|options|flags|environment variables)",
        r"examples? of|tutorials?|documentation|docs|documented|readme|^\s*+document",
        r"wie (?:kann|muss|soll|\w+e) (?:ich|man)|wie (?:\w+t man|\w+en wir)",
        r"comment (?:puis-je|\w+(?:er|ir|re))|cómo (?:puedo|se usa|\w+(?:o|ar|er|ir))",
    ),
}

_UNSPACED: Mapping[Topic, re.Pattern[str]] = {
    "history": re.compile("什么时候|何时|是谁|历史|提交|いつ|誰が|履歴|コミット"),
    "releases": re.compile("更新日志|新功能|新特性|変更履歴|リリースノート|新機能"),
    "decisions": re.compile("决定|约定|规范|決め|決定|方針|規約"),
    "activity": re.compile("最近|昨天|正在|昨日|作業中"),
    "failures": re.compile("错误|异常|报错|失败|崩溃|エラー|例外|失敗"),
    "usage": re.compile(
        "(?<!是)(?:如何|怎么|怎样)(?!实现|工作|处理)|配置|安装|使い方|方法|するには|設定|インストール"
    ),
}

_MENDS = re.compile(
    r"(?<!\w)(?:fix|debug|solve|repair|troubleshoot|get rid of|broken|crash\w*|bugs?|beheben"
    r"|corriger|arreglar|does(?:n't| not) work|goes wrong|raises)(?!\w)"
)
_WHERE = re.compile(
    r"(?<!\w)where (?:is|are|does|do)(?!\w)|^\s*+how (?:is|are|does|do)(?! (?:i|we|you|one)\b)"
)
_PLACE = re.compile(
    r"(?<!\w)(?:where|which|wo|welche\w?|où|quel(?:le)?s?|dónde|cuál(?:es)?)(?!\w)|哪|どこ|どの"
)
_WHY = re.compile(r"(?<!\w)(?:why|warum|wieso|pourquoi|por qué)(?!\w)|为什么|为何|なぜ|どうして")

# "Why does it hang?" reports a problem, "why is it a tuple?" and "why do we?" ask for a reason.
_TROUBLE = re.compile(
    r"(?<!\w)why (?:(?:(?:is|are|do|does)n|can)'t(?! we\b)|(?:is|are|do|does|can)(?! we\b)"
    r"(?: [^\s?!]++){0,12}? (?:my|never|nothing|twice|wrong|empty|missing|stuck|slow(?:er|ly)?"
    r"|hangs?|freezes?|miss(?:es)?|los(?:es?|t)|ignore[ds]?|breaks?|returns? [45]\d\d))(?!\w)"
)


def asks_where(text: str) -> bool:
    """Whether a question asks for a place in the code, not for an explanation."""
    return _PLACE.search(text.lower()) is not None


def topics_in(text: str) -> tuple[Topic, ...]:
    """List the topics of a question.

    `code` if its words do not show any.
    """
    lowered = text.lower()
    found = [topic for topic, pattern in _SPACED.items() if pattern.search(lowered)]
    found += [
        topic
        for topic, pattern in _UNSPACED.items()
        if topic not in found and pattern.search(lowered)
    ]
    if {"releases", "setup"} <= {*found}:
        # "Which versions of Python are supported?" is no question about what changed.
        found.remove("releases")
    if "releases" in found and "history" in found:
        # "What changed in 8.2?" is answered by release notes, "what changed?" by commits.
        found.remove("history")
    if {"failures", "usage"} <= {*found} and not _MENDS.search(lowered):
        # "How do I retry a failed task?" asks how to use it, "how do I fix it?" what is wrong.
        found.remove("failures")
    if {"decisions", "history", "releases", "usage"} & {*found} and _WHERE.search(lowered):
        # "Where is the eviction policy applied?" asks for code, "our policy on reviews" does not.
        found.append("code")
    if not found and _TROUBLE.search(lowered):
        return ("failures",)
    if not found and _WHY.search(lowered):
        # The reason may be in the code, or in the message of the commit that changed it.
        return ("code", "history")
    return tuple(found) or ("code",)
