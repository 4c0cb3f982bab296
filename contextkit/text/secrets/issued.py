"""Tokens that have the shape in which a service issues them.

A shape begins with one of its marks and is matched where a mark stands, so that a text without
marks costs a search for each of them. Shapes are compiled when they are first needed.
No shape looks back over what it consumed: runs are possessive or bounded.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator

from contextkit.text.secrets.span import SecretSpan, compiled

# Kind, what one of stands at its beginning, and the shape from there on.
_ISSUED: tuple[tuple[str, str, str], ...] = (
    ("private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}+"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[oprsu]_\w{20,}+"),
    ("GitHub token", "github_pat_", r"github_pat_\w{20,}+"),
    ("GitLab token", "glpat- gloas- gldt- glrt- glptt- glcbt-", r"gl[a-z]{2,5}-[\w.-]{20,}+"),
    ("AWS access key", "AKIA ASIA", r"A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("AWS access key", "ABIA ACCA", r"A(?:BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("Google API key", "AIza", r"AIza[\w-]{35}"),
    ("Google OAuth secret", "GOCSPX-", r"GOCSPX-[\w-]{20,}+"),
    ("Google token", "ya29.", r"ya29\.(?=[\w-]{0,60}\d)[\w-]{30,}+"),
    ("Google token", "1//0", r"1//0(?=[\w-]{0,60}\d)[\w-]{40,}+"),
    (
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.",
        r"xox[abeoprs][.-][\w.-]{10,}+",
    ),
    ("Slack token", "xapp-", r"xapp-\d-[\w-]{20,}+"),
    (
        "Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}+",
    ),
    ("Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{15,22}/[\w-]{40,}+"),
    ("Teams webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/[\w@/-]{60,}+"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[rs]k_(?:live|test)_\w{16,}+"),
    ("Stripe key", "whsec_", r"whsec_[\w+/=]{24,}+"),
    ("Anthropic key", "sk-ant-", r"sk-ant-[\w-]{30,}+"),
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", r"sk-[a-z]{4,8}-[\w-]{30,}+"),
    ("API key", "sk-", r"sk-(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Za-z])[\w-]{20,}+"),
    ("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}+"),
    ("xAI key", "xai-", r"xai-[A-Za-z0-9]{60,}+"),
    ("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,}+"),
    ("Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,}+"),
    ("LangSmith key", "lsv2_", r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("SendGrid key", "SG.", r"SG\.[\w-]{16,}+\.[\w-]{16,}+"),
    ("Mailgun key", "key-", r"key-(?=[a-z]{0,31}\d)[0-9a-zA-Z]{32}(?![\w-])"),
    ("Twilio key", "SK", r"SK[0-9a-f]{32}(?![\w-])"),
    ("JSON web token", "eyJ", r"(?<![\w-])eyJ[\w-]{10,}+\.eyJ[\w-]{8,}+\.[\w-]{10,}+"),
    ("Mapbox token", "sk.eyJ", r"sk\.eyJ[\w-]{20,}+\.[\w-]{16,}+"),
    ("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    ("PyPI token", "pypi-", r"pypi-(?=[\w-]{0,60}\d)[\w-]{40,}+"),
    ("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{40,}+"),
    ("crates.io token", "cio", r"cio(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}(?!\w)"),
    ("Clojars token", "CLOJARS_", r"CLOJARS_[0-9a-f]{50,}+"),
    ("Docker token", "dckr_pat_ dckr_oat_", r"dckr_[op]at_[\w-]{20,}+"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{40,}+"),
    ("Linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}+"),
    ("Databricks token", "dapi", r"dapi[0-9a-h]{32}(?:-\d)?(?!\w)"),
    ("Vault token", "hvs. hvb. hvr.", r"hv[bsr]\.[\w-]{24,}+"),
    (
        "Shopify token",
        "shpat_ shpca_ shppa_ shpss_ shptka_",
        r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32,}+",
    ),
    ("New Relic key", "NRAK- NRJS- NRAA- NRIQ- NRRA- NRSP-", r"NR[A-Z]{2}-[A-Za-z0-9_-]{19,}+"),
    ("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,}+"),
    ("Square token", "sq0atp- sq0csp- sq0idp-", r"sq0(?:atp|csp|idp)-[\w-]{22,}+"),
    ("Facebook token", "EAA", r"EAA[A-Z](?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{60,}+"),
    ("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=-]{32,}+"),
    ("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,}+"),
    ("Notion token", "secret_", r"secret_(?=[A-Za-z]{0,42}\d)[A-Za-z0-9]{43}(?!\w)"),
    (
        "Doppler token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"dp\.[a-z]{2,5}\.[\w.-]{40,}+",
    ),
    ("Fly token", "fo1_ fm1_ fm2_ fm1r_ fm1a_", r"f[mo]\d[ar]?_[\w+/=-]{40,}+"),
    ("Supabase token", "sbp_ sb_secret_", r"sb(?:p|_secret)_[\w-]{20,}+"),
    ("Heroku key", "HRKU-", r"HRKU-[\w-]{30,}+"),
    ("Atlassian token", "ATATT3 ATCTT3 ATBB", r"AT(?:[AC]TT3|BB)[\w=-]{20,}+"),
    ("Figma token", "figd_ figo_", r"fig[do]_[\w-]{30,}+"),
    ("Dropbox token", "sl.", r"sl\.(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{100,}+"),
    ("Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("PlanetScale token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}+"),
    ("Pulumi token", "pul-", r"pul-[0-9a-f]{40}(?!\w)"),
    ("Artifactory key", "AKCp", r"AKCp[A-Za-z0-9]{50,}+"),
    ("Alibaba key", "LTAI", r"LTAI[A-Za-z0-9]{17,}+"),
    ("Adafruit key", "aio_", r"aio_[A-Za-z0-9]{28}(?!\w)"),
    ("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}+"),
    ("Buildkite token", "bkua_", r"bkua_[0-9a-f]{40}"),
    ("CircleCI token", "CCIPAT_", r"CCIPAT_\w{40,}+"),
    ("1Password token", "ops_eyJ", r"ops_eyJ[\w=-]{60,}+"),
)

# Kind, what stands within one, what must stand before that, and the shape from there on.
_AROUND: tuple[tuple[str, str, str, str], ...] = (
    ("Telegram token", ":AA", r"(?<!\d)\d{8,10}", r":AA[\w-]{32,}+"),
    ("Terraform token", ".atlasv1.", r"(?<!\w)\w{14}", r"\.atlasv1\.[\w-]{50,}+"),
    ("Mailchimp key", "-us", r"(?<!\w)[0-9a-f]{32}", r"-us\d{1,2}(?![\w-])"),
    ("Azure secret", "8Q~", r"(?<![\w.~-])[\w.~-]{3}", r"8Q~[\w.~-]{31,}+"),
    ("Sentry DSN", "@", r"//[0-9a-f]{32}(?::[0-9a-f]{32})?", r"@(?=[\w.-]{0,40}sentry)"),
)
_MOST_BEFORE = 80

_DIGIT = re.compile(r"[0-9]")
_RUN = re.compile(r"[A-Za-z0-9_+/=.:~@-]{20,}+")
_DISCORD = re.compile(
    r"(?<![\w.-])[MNO](?=[\w-]{0,25}\d)[\w-]{23,27}+\.[\w-]{6}\.[\w-]{27,45}+(?![\w.-])"
)
_RANDOM = re.compile(
    r"(?<![\w+/=.%@-])(?:[A-Za-z0-9_-]{32,128}+(?![+/])|[A-Za-z0-9+/]{32,128}+={0,2})(?![\w+/=.%-])"
)
_LABEL = (
    r"(?i)sha\d|md5|\bh1:|hash|digest|integrity|checksum|nonce|opaque|etag|fingerprint|cookie"
    r"|signature|public.?key|ssh-|certificate|base64|data:"
)
"""A random string behind one of these words is not a secret."""
# Lines of a base64 block (a certificate, an image) are adjacent.
_LINE_BEFORE = r"[A-Za-z0-9+/_-]{20}['\"+, ]{0,4}\r?\n[ \t'\"+]{0,20}$"
_LINE_AFTER = r"['\"+, ]{0,4}\r?\n[ \t'\"+]{0,20}[A-Za-z0-9+/_-]{20}"
_BEFORE = 120
_EXAMPLE = (
    r"(?i)example|x{6}|your[_-]|placeholder|redacted|dummy|changeme|0{12}"
    # The subject of the token that jwt.io shows; keys of Flask's documentation, copied widely.
    r"|IxMjM0NTY3ODkwIi|^ *192b9bdd22ab9ed4d12e|^ *5f352379324c22463451"
)
_SHORTEST = 16
_FEWEST_CHARACTERS = 3
_OF_EACH = 3
_MOST_JOINTS = 3
_CLASS_CHANGES = 0.4
"""Of the neighbouring characters of a random string, this part is of different classes."""


def issued(text: str) -> Iterator[SecretSpan]:
    """Tokens that have the form that a service gives them."""
    long = _long_runs(text)
    if not long:
        return
    for kind, marks, shape in _PREFIXED:
        for mark in marks:
            if mark in long:
                yield from _beginning(text, kind, mark, shape)
    for kind, mark, before, shape in _AROUND:
        if mark in long:
            yield from _with_what_is_before(text, kind, mark, before, shape)
    yield from _wherever(text, "Discord token", set(_DISCORD.findall(long)), _DISCORD)
    random = set(filter(_is_random, set(_RANDOM.findall(long))))
    for span in _wherever(text, "random string", random, _RANDOM):
        if not _is_labelled(text, span):
            yield span


def _long_runs(text: str) -> str:
    """The parts of a text that may hold a token, each once, one a line."""
    # Splitting and joining first is three times as fast as to search the text.
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    runs = dict.fromkeys(_RUN.findall("\n".join(words)))
    # Names in small letters are most of them; no token is without a digit or a capital.
    return "\n".join([run for run in runs if not run.islower() or _DIGIT.search(run)])


def is_example(value: str) -> bool:
    """Whether a value of a token's shape is one that documents show."""
    return compiled(_EXAMPLE).search(value) is not None or len(set(value[4:])) < _FEWEST_CHARACTERS


_PREFIXED = tuple((kind, tuple(marks.split(" ")), shape) for kind, marks, shape in _ISSUED)


def _beginning(text: str, kind: str, mark: str, pattern: str) -> Iterator[SecretSpan]:
    """The tokens that begin with a mark, unless that is the end of a word."""
    shape = compiled(pattern)
    is_word = mark[0].isalnum()
    at = text.find(mark)
    while at >= 0:
        follows = at + 1
        if not (is_word and at and text[at - 1].isalnum()) and (found := shape.match(text, at)):
            follows = found.end()
            if not is_example(found[0]):
                yield SecretSpan(at, follows, kind)
        at = text.find(mark, follows)


def _with_what_is_before(
    text: str, kind: str, mark: str, before: str, pattern: str
) -> Iterator[SecretSpan]:
    at = text.find(mark)
    while at >= 0:
        follows = at + 1
        lead = compiled(f"{before}$").search(text[max(0, at - _MOST_BEFORE) : at])
        if lead and (found := compiled(pattern).match(text, at)):
            follows = max(found.end(), follows)
            if not is_example(lead[0] + found[0]):
                yield SecretSpan(at - len(lead[0].lstrip("/")), found.end(), kind)
        at = text.find(mark, follows)


def _wherever(
    text: str, kind: str, values: Collection[str], shape: re.Pattern[str]
) -> Iterator[SecretSpan]:
    """The places where one of the values stands by itself."""
    for found in shape.finditer(text) if values else ():
        if found[0] in values:
            yield SecretSpan(*found.span(), kind)


def _is_random(value: str) -> bool:
    if value.startswith("0x") or sum(map(value.count, "_-")) > _MOST_JOINTS:
        return False
    return looks_random(value.rstrip("=")) and not is_example(value) and not _is_text(value)


def _is_labelled(text: str, span: SecretSpan) -> bool:
    """Whether it is a line of a block, or the words before it name a digest or the like."""
    furthest = max(0, span.start - _BEFORE)
    # Texts that are searched as one are apart by a NUL.
    start = max(furthest, text.rfind("\0", furthest, span.start) + 1)
    return bool(
        compiled(_LABEL).search(text, start, span.start)
        or compiled(_LINE_BEFORE).search(text, start, span.start)
        or compiled(_LINE_AFTER).match(text, span.end)
    )


def looks_random(value: str) -> bool:
    """Whether letters of both cases and digits change as often as chance makes them."""
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 if c.isdigit() else 3 for c in value]
    changes = sum(map(int.__ne__, kinds, kinds[1:]))
    return min(map(kinds.count, range(3))) >= _OF_EACH and changes >= _CLASS_CHANGES * len(value)


def _is_text(value: str) -> bool:
    """Whether it is words, in base64."""
    padded = value[: len(value) // 4 * 4]
    try:
        return base64.b64decode(padded, altchars=b"-_").decode("ascii").isprintable()
    except ValueError:
        return False
