"""Words that say what changed, and words of statements that may change."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CHANGES = re.compile(
    r"\b(?:now|no longer|any ?more|instead|since|as of|switch(?:ed|ing)?|mov(?:ed|ing)"
    r"|migrat(?:ed|es|ing)|replac\w+|rewritten|took over|taken over|takes over|hand(?:ed|s) over"
    r"|over to|reassign\w*|transferr\w+|upgrad\w+|downgrad\w+|bump\w*|rais(?:ed|es)"
    r"|lower(?:ed|s)|increas\w+|decreas\w+|reduc\w+|extend\w+|shorten\w*|went (?:up|down)"
    r"|cut (?:to|from|down)|chang(?:ed|es)|dropp?ed|left|stopp?ed|stepped down|retired|became"
    r"|renamed|relocated|successor|again|(?:has|have|got) (?:a|an) new|^new|(?:is|are) gone"
    r"|shut down|switched off|scrapp?ed|abandon\w+|deprecat\w+|grew|shrank|joined|umgestellt"
    r"|umgezogen|jetzt|nicht mehr|statt|stattdessen|désormais|ahora|ya no)\b",
    re.IGNORECASE,
)
"""A newer statement with one of these may replace an older one."""

ADDS = re.compile(
    r"\b(?:also|too|as well|additionally|in addition|besides|another|both|auch|aussi|también)\b",
    re.IGNORECASE,
)
"""A statement with one of these adds to an older one."""

CHANGE_WORDS = _words("""
    now longer anymore more instead since switch switched moved move migrated migration replaced
    replace rewritten took taken over take handed hand reassigned transferred upgraded upgrade
    bumped bump raised raise lowered increased decreased reduced extended shortened went up down cut
    changed change dropped left leave stopped stepped retired became renamed relocated successor new
    again gone shut off joined need only own again back
""")
"""They tell that something changed, but not what."""

HEDGES = _words("""
    now currently only about around roughly approximately again just still today nowadays
    a an the at most least please really always usually onwards
""")
"""They may differ in two statements with the same subject."""

GENERIC = _words("""
    we our us i my me you your they their it its the a an this that user users team everyone all
    everybody company project main current one there here he she his her
""")
"""A subject of these words alone may be any subject."""

TIMES = _words("""
    january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec week month year last next today yesterday quarter
    spring summer autumn winter weekend migration incident
""")

SCOPES = _words("""
    dev development test testing staging stage production prod release local remote client server
    frontend backend mobile web ios android internal external public private unit integration
    first second third old
""")
"""They say what a statement is about, wherever they stand."""

BEFORE_THE_OLD = _words("""
    from off than replaced replaces replacing left leaving dropped dropping stopped longer not
    instead abandoned retired removed
""")
"""They stand before what is no longer true."""

AFTER_THE_OLD = _words("""
    gone left replaced retired dropped removed stepped handed quit shut switched deprecated resigned
    longer isn't wasn't went
""")
"""They stand behind what is no longer true, perhaps behind an auxiliary."""

AUXILIARIES = _words("""
    is are was were be been being has have had do does did can will would should 's
""")

PRESENT = _words("""
    is are has have lives live works work runs run goes go belongs belong owns own leads lead
    maintains maintain handles handle approves approve manages manage targets target costs cost
    lasts last expires expire meets meet takes take starts start begins ends closes opens listens
    listen points point uses use needs need builds build prefers prefer wants want sits stays stay
    resides reports report deploys deploy speaks speak likes like enjoys enjoy plays play supports
    support knows know loves love hates includes contains provides offers allows allow accepts
    accept tests test writes write reads read eats eat drinks drink collects talks talk gets get
    keeps keep requires require serves serve sends send stores store tracks track hosts host pays
    pay breaks adds add returns return equals defaults default points reviews review ask
    retry log logs prints push pushes pin pins pinned set handed depends calls call
    lies comes come stands stand becomes wears drives studies teaches does do
""")
"""Verbs of statements that are true for a time."""

PAST = _words("""
    was were had did went took wrote met said told made got gave saw came paid signed bought sold
    found lived worked played visited fixed added joined started ended finished shipped released
    happened hired left ate drank ran spoke won lost built sent spent read began broke
""")
"""Verbs of statements on what happened; those stay true."""

DECIDED = _words("chose chosen decided picked selected")

SEVERAL = _words("""
    speaks speak likes like enjoys enjoy plays play supports support knows know loves love hates
    includes contains provides offers accepts tests test collects eats eat drinks drink reads read
    writes write add adds returns breaks studies teaches
""")
"""Verbs that may be true of several things at once."""

WITH_PLACE = _words("""
    lives live works work runs run goes go belongs belong meets meet sits stays stay resides reports
    report points point listens listen gets get deploy deploys comes come stands stand talk
    ask push pushes sends send stores store
""")
"""Verbs that are true of one thing, named behind a preposition."""

NOUNS_TOO = _words("""
    builds build reviews review tests test logs log reports report deploys deploy points point pins
    pin calls call stores store hosts tracks pushes push prints plays lead leads set
""")
"""They are verbs only if no other verb follows."""

OWNING = _words("""
    owns own leads lead maintains maintain handles handle approves approve manages manage is are
    go goes ask gets get reviews review
""")
HANDED_OVER = re.compile(r"\b(?:took over|taken over|takes over|hand(?:ed|s)|reassign\w*)\b")
SCALED = re.compile(
    r"\b(?:rais(?:ed|es)|lower(?:ed|s)|increas\w+|decreas\w+|reduc\w+|extend\w+|shorten\w*"
    r"|went (?:up|down)|cut (?:to|from|down)|upgrad\w+|downgrad\w+|bump\w*|moved to|grew|shrank)\b",
    re.IGNORECASE,
)
"""They say that a number changed."""

UNITS = _words("""
    s ms sec secs second seconds m min mins minute minutes h hour hours day days week weeks month
    months year years b kb mb gb tb % percent euro euros eur usd dollars
""")
ONE_THING = _words("use uses prefer prefers ask want wants")
"""Verbs that are true of one thing if the rest is the same: `Use pytest for new tests`."""

PLACED = _words("in at to by from through with about into via under against on as")
SCOPE_PREPOSITIONS = _words("in for on at during under of per")
PARTICIPLES = _words("done made held kept sent built led run set put sold paid read brought found")
"""Those that do not end in `ed` or `en`."""

HOMES = re.compile(r"\b(?:lives?|living|resides?|based|home|sits?|stays?)\b", re.IGNORECASE)
MOVED_ON = re.compile(r"\b(?:moved|switched|migrated|changed) .{0,40}\bto\b|\bnow\b", re.IGNORECASE)
MOVED = re.compile(r"\b(?:moved|relocated|moving) (?:to|back|from)\b", re.IGNORECASE)
