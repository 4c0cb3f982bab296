"""Words that change the meaning of a sentence."""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS = _words("""
    no not never none nobody nothing nowhere neither nor cannot without except unless hardly
    barely scarcely rarely seldom dont doesnt didnt isnt arent wasnt werent wont wouldnt cant
    couldnt shouldnt mustnt havent hasnt hadnt aint neednt
    ません ない なかっ なく 不 没 沒 無 无 未 非 别 別 勿 莫 안 못
""")

NUMBER_WORDS = _words("""
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million billion twice thrice
""")

# Capitalised at the start of a sentence without being names.
FUNCTION_WORDS = _words("""
    a an the this that these those it its i we you he she they my our your his her their me us
    him them what which who when where why how there here if as at by for from in into of on to
    and or but so then than also just note well oh hey hi thanks thank yeah ok okay wow great
""")

# Replacing a word by another one of its line changes the meaning. Each word is also known with
# -s, -d, -ed and -ing.
_CONTRASTS = """
yes no
true false
on off
enable disable
allow permit deny forbid block
accept reject refuse
include exclude
add remove insert delete append prepend
create destroy
increase decrease raise lower grow shrink
open close
start stop begin end finish
show hide
lock unlock
up down
left right
above below over under
before after during
first second third last next previous
always sometimes often usually never
all some any every each most many few none
more less fewer
best worst better worse good bad
high low higher highest lowest
min max minimum maximum
new old
early late earlier later
fast slow quick
hot cold warm
big small large tiny huge
long short
pass fail
passed failed
success failure
safe dangerous
public private protected
local remote
internal external
required optional
must may can should could would might
sync async
read write wrote written
import export
push pull
upload download
client server
source target
input output
parent child
with without
dev development test staging prod production debug release
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday
mon tue wed thu fri sat sun
today tomorrow yesterday tonight
morning noon afternoon evening night
spring summer autumn fall winter
east west north south
half double triple
ns us ms s sec second m min minute h hour day week month year
b byte bit kb mb gb tb kib mib gib
percent px em rem mm cm m km g kg mg
usd eur gbp
red green blue yellow black white orange purple brown pink grey gray
一 二 三 四 五 六 七 八 九 十 百 千 万
上 下
前 后 後
左 右
大 小
多 少
"""
_SUFFIXES = ("s", "d", "ed", "ing")
# Prefixes that reverse a word's meaning, and some that only modify it.
_OPPOSING_PREFIXES = ("un", "dis", "in", "im", "il", "ir", "non", "anti", "de", "mis", "a", "re")


def _groups_by_word() -> Mapping[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(_CONTRASTS.split("\n")):
        for word in line.split():
            groups.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


_GROUPS = _groups_by_word()
_NO_GROUPS: frozenset[int] = frozenset()


def contrasts_of(word: str) -> frozenset[int]:
    """The groups of contrasting words of `word` or its stem."""
    found = _GROUPS.get(word)
    if found is not None:
        return found
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix) + 1:
            stem = word[: -len(suffix)]
            found = _GROUPS.get(stem) or _GROUPS.get(f"{stem}e")
            if found is not None:
                return found
    return _NO_GROUPS


def opposes(word: str, other: str) -> bool:
    """Whether the words differ by a reversing prefix: `safe`, `unsafe`."""
    if len(word) > len(other):
        word, other = other, word
    return len(word) > 2 and any(other == prefix + word for prefix in _OPPOSING_PREFIXES)
