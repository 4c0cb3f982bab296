"""English words that show intent, stop words, and numbers with their nouns."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """
    a about above across after again against all along already also although always am among
    amongst an and another any are around as at be because been before being below beside
    besides between beyond both but by can cant could despite did do does doesnt doing done dont
    down during each either even every few for from further get gets had has have having he her
    here hers him his how i if in into is it its itself just let lets me more most must my need
    needs neither no nor not now of off often on once only onto or other our ours out over own
    per please same shall she should since so some sometimes such than that the their theirs
    them then there these they this those though through throughout to too toward towards under
    unless unlike until up upon us usually very via want wants was we were what whats when where
    whereas whether which while who whom whose why will with within without would yes you your
    yours
    """
)
"""Words that every text contains."""

ENGLISH_ALONE = _words(
    """
    and by can could did does from has have how should that the there this to were what when
    where which why with would
    """
)
"""Words of questions that exist in no other language."""

GREETINGS = _words(
    """
    alright amazing awesome awful bonjour bro bye cheers ciao continue danke excellent fantastic
    fix fixed gonna good goodbye gotcha gracias great greetings haha hallo hello hey hi hmm hola
    huh im ive lol lovely merci nah nice nope oh ok okay oops perfect pls proceed sorry splendid
    sure thank thankful thanks thanx thats thx wanna welcome wonderful wow ya yay yeah yep yo
    youre yup
    """
)
"""Words that are no subject even if a query has no others."""

TALK = GREETINGS | _words(
    """
    actually ahead almost anything appreciate appreciated ask bad best better bit carry cool
    correct day dear earlier else enjoy evening everybody everyone everything exactly excuse
    fair feel fine fixes fun funny give glad go goes going got guess guys happen happened
    happening happy help helped helpful helps here hope how hows idea indeed joke keep kind
    kindly know last lately later latest like likewise little look looking looks lot make makes
    making matter maybe mean means mind morning much neat never next night nothing pleased
    possible pretty previously probably quick quickly quite ready really recently reply resume
    right sad said say see seem seems sir something soon sounds still stuff super talk tell
    thing things think thinking thought today together tomorrow tonight try understand
    understood useful wait way weird well wonder wondering work worked working works worry wrong
    yesterday yet
    """
)
"""Words of greeting, thanks, agreement and request; a query of several of these has no subject.

In a query with other words they count as usual, and one of them alone may be the name of a
function.
"""

FIX = _words(
    """
    broken bug buggy bugs crash crashed crashes crashing debug debugging error errors
    exception exceptions fail failed failing fails failure failures fix fixed fixes fixing
    regression traceback
    """
)
"""Something is broken."""

EXPLAIN = _words(
    """
    describe explain explained explains explanation whats
    """
)
"""An explanation is wanted."""

QUESTION_WORDS = _words(
    """
    are can could did do does had has have how is should was were what when where which who
    whom whose why will would
    """
)
"""Words that start a question."""

BEFORE_A_VERB = _words(
    """
    also and can could have help i just let lets me must need needs now please should then to
    us want wants we will would you
    """
)
"""Words before the verb of an order or a wish."""

VERBS = _words(
    """
    adapt add adjust apply benchmark build bump change check clean commit compare convert
    create delete deploy design disable document drop edit enable extend extract find format
    generate implement improve index inline install introduce list make merge migrate modify
    move open optimise optimize parse port publish push rebase refactor release remove rename
    reorder replace restructure review rewrite run set show simplify sort speed split start
    stop support switch test tidy turn undo update upgrade use validate verify wire wrap write
    """
)
"""Verbs of software development, as used in orders."""

DETERMINERS = _words(
    """
    a all an any both each every it its my our that the these this
    """
)
"""Words after the verb of an order."""

EXPLAINING_PAIRS = frozenset(
    (("how", "does"), ("how", "do"), ("what", "is"), ("what", "are"), ("what", "does"))
)
"""Pairs of words that ask for an explanation."""

POLITE_PAIRS = frozenset((verb, "you") for verb in ("can", "could", "will", "would"))
"""Pairs of words that start a request in the form of a question."""


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 record`, `2,000 records`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
