"""Made-up secrets of many kinds, each as it usually stands in a text.

Every value is random characters behind the prefix that a service gives its tokens. The prefixes
are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

from attrs import frozen

__all__ = ["KINDS", "Planted", "planted"]

_LETTERS = string.ascii_letters
_WORD = _LETTERS + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_B64 = _WORD + "+/"


@frozen
class Planted:
    """One secret.

    Attributes:
        kind: what it is.
        value: what must be nowhere on disk.
        name: what it is assigned to, in a file of settings.
        line: a line that it stands in.
        is_command: whether it is only a secret in that line, however it is quoted.
    """

    kind: str
    value: str
    name: str
    line: str
    is_command: bool = False


_Make = Callable[[random.Random], str]


def _run(alphabet: str, length: int, rng: random.Random) -> str:
    """Random characters, with a digit and a letter among them."""
    made = [rng.choice(alphabet) for _ in range(length)]
    made[length // 2] = rng.choice("3456789")
    made[length // 3] = rng.choice("29")
    made[1] = rng.choice([char for char in alphabet if char.isalpha()])
    return "".join(made)


def _issued(*parts: str, of: str = _WORD, length: int, end: str = "") -> _Make:
    return lambda rng: "".join(parts) + _run(of, length, rng) + end


def _joined(*makes: _Make | str) -> _Make:
    return lambda rng: "".join(make if isinstance(make, str) else make(rng) for make in makes)


def _of(alphabet: str, length: int) -> _Make:
    return lambda rng: _run(alphabet, length, rng)


def _pem(kind: str) -> _Make:
    def make(rng: random.Random) -> str:
        lines = [_run(_B64, 64, rng) for _ in range(8)]
        dashes = "-" * 5
        body = "\n".join(lines)
        return f"{dashes}BEGIN {kind}{dashes}\n{body}\n{dashes}END {kind}{dashes}"

    return make


def _uuid(rng: random.Random) -> str:
    return "-".join(_run(_HEX, length, rng) for length in (8, 4, 4, 4, 12))


def _jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': _run(_WORD, 12, rng)})}.{_run(_WORD, 43, rng)}"


def _password(rng: random.Random) -> str:
    return _run(_LETTERS, 6, rng) + "!" + _run(_WORD, 5, rng)


def _user_and_password(rng: random.Random) -> str:
    return base64.b64encode(f"harbour:{_password(rng)}".encode()).decode()


# Kind -> how its value is made.
_ISSUED: dict[str, _Make] = {
    "RSA private key": _pem("RSA PRIVATE" + " KEY"),
    "EC private key": _pem("EC PRIVATE" + " KEY"),
    "OpenSSH private key": _pem("OPENSSH PRIVATE" + " KEY"),
    "PGP private key": _pem("PGP PRIVATE" + " KEY BLOCK"),
    "age key": _issued("AGE-SECRET", "-KEY-1", of=_UPPER, length=58),
    "GitHub personal token": _issued("gh", "p_", length=36),
    "GitHub OAuth token": _issued("gh", "o_", length=36),
    "GitHub server token": _issued("gh", "s_", length=36),
    "GitHub user token": _issued("gh", "u_", length=36),
    "GitHub refresh token": _issued("gh", "r_", length=76),
    "GitHub fine-grained token": _joined("github", "_pat_", _of(_WORD, 22), "_", _of(_WORD, 59)),
    "GitLab token": _issued("gl", "pat-", length=20),
    "AWS access key id": _issued("AK", "IA", of="ABCDEFGHJKLMNPQRSTUVWXYZ234567", length=16),
    "Google API key": _issued("AI", "za", length=35),
    "Google OAuth client secret": _issued("GOC", "SPX-", length=28),
    "Google access token": _issued("ya", "29.", length=120),
    "Slack bot token": lambda rng: (
        f"{'xox'}b-{rng.randrange(10**11, 10**12)}-{_run(_WORD, 24, rng)}"
    ),
    "Slack user token": lambda rng: (
        f"{'xox'}p-{rng.randrange(10**11, 10**12)}-{_run(_HEX, 32, rng)}"
    ),
    "Slack app token": lambda rng: (
        f"{'xa'}pp-1-{_run(_UPPER, 11, rng)}-{rng.randrange(10**12, 10**13)}-{_run(_HEX, 64, rng)}"
    ),
    "Slack webhook": lambda rng: (
        f"https://hooks.{'slack'}.com/services/T{_run(_UPPER, 9, rng)}/B{_run(_UPPER, 9, rng)}"
        f"/{_run(_WORD, 24, rng)}"
    ),
    "Stripe secret key": _issued("sk_", "live_", length=24),
    "Stripe restricted key": _issued("rk_", "live_", length=24),
    "Stripe webhook secret": _issued("wh", "sec_", length=32),
    "OpenAI key": _issued("sk", "-", length=48),
    "OpenAI project key": _issued("sk-", "proj-", length=64),
    "Anthropic key": _issued("sk-", "ant-api03-", length=93, end="AA"),
    "SendGrid key": _joined("S", "G.", _of(_WORD, 22), ".", _of(_WORD, 43)),
    "Telegram bot token": lambda rng: (
        f"{rng.randrange(10**9, 10**10)}:A{'A'}{_run(_WORD, 33, rng)}"
    ),
    "JSON web token": _jwt,
    "Hugging Face token": _issued("h", "f_", length=34),
    "npm token": _issued("np", "m_", length=36),
    "Docker token": _issued("dckr", "_pat_", length=27),
    "DigitalOcean token": _issued("dop", "_v1_", of=_HEX, length=64),
    "Linear key": _issued("lin", "_api_", length=40),
    "Databricks token": _issued("da", "pi", of=_HEX, length=32),
    "PyPI token": _issued("pyp", "i-AgEIcHlwaS5vcmc", length=90),
    "Twilio API key": _issued("S", "K", of=_HEX, length=32),
    "Vault token": _issued("hv", "s.", length=90),
    "Shopify token": _issued("shp", "at_", of=_HEX, length=32),
    "Mailgun key": _issued("ke", "y-", of=_HEX, length=32),
    "Discord bot token": lambda rng: (
        f"M{_run(_WORD, 25, rng)}.{_run(_WORD, 6, rng)}.{_run(_WORD, 38, rng)}"
    ),
    "Discord webhook": lambda rng: (
        f"https://{'discord'}.com/api/webhooks/{rng.randrange(10**17, 10**18)}"
        f"/{_run(_WORD, 68, rng)}"
    ),
    "Terraform token": _joined(_of(_WORD, 14), ".atl", "asv1.", _of(_WORD, 67)),
    "New Relic key": _issued("NR", "AK-", of=_UPPER, length=27),
    "Sentry DSN": lambda rng: (
        f"https://{_run(_HEX, 32, rng)}@o{rng.randrange(10**5, 10**6)}.ingest.{'sentry'}.io"
        f"/{rng.randrange(10**6, 10**7)}"
    ),
    "Square token": _issued("sq0", "atp-", length=22),
    "Facebook token": _issued("EA", "ACEdEose0cBA", length=80),
    "Mapbox token": lambda rng: f"s{'k'}.eyJ{_run(_WORD, 60, rng)}.{_run(_WORD, 22, rng)}",
    "Postman key": _joined("PM", "AK-", _of(_HEX, 24), "-", _of(_HEX, 34)),
    "Grafana token": _joined("gl", "sa_", _of(_WORD, 32), "_", _of(_HEX, 8)),
    "Notion token": _issued("nt", "n_", length=46),
    "Doppler token": _issued("dp.", "pt.", length=43),
    "Fly token": _issued("fo1", "_", length=43),
    "Supabase token": _issued("sb", "p_", of=_HEX, length=40),
    "Heroku key": _joined("HR", "KU-", _uuid),
    "random string": _of(_WORD, 43),
}
# Kind -> what it is assigned to, and how its value is made: only the name says what it is.
_NAMED: dict[str, tuple[str, _Make]] = {
    "AWS secret key": ("aws_secret_access_key", _of(_B64, 40)),
    "Azure storage key": ("AccountKey", _issued(of=_B64, length=86, end="==")),
    "Twilio auth token": ("TWILIO_AUTH_TOKEN", _of(_HEX, 32)),
    "Datadog key": ("DD_API_KEY", _of(_HEX, 32)),
    "Cloudflare token": ("CLOUDFLARE_API_TOKEN", _of(_WORD, 40)),
    "PagerDuty token": ("PAGERDUTY_TOKEN", _of(_WORD, 20)),
    "Heroku API key": ("HEROKU_API_KEY", _uuid),
    "password of a setting": ("DB_PASSWORD", _password),
    "client secret": ("client_secret", _of(_WORD, 32)),
}
# Kind -> the line in which alone it is a secret, and how its value is made.
_IN_LINES: dict[str, tuple[str, _Make]] = {
    "AWS secret key as an argument": ("deploy --region eu-west-1 {}", _of(_B64, 40)),
    "netrc": ("machine git.harbour.example login tide password {}", _password),
    "curl -u": ("curl -s -u tide:{} https://git.harbour.example/api", _password),
    "mysql -p": ("mysql -h db.harbour.example -u tide -p{} tides", _password),
    "URL credentials": ("postgres://tide:{}@db.harbour.internal:5432/tides", _password),
    "Bearer header": ("Authorization: Bearer {}", _of(_WORD, 32)),
    "Basic header": ("Authorization: Basic {}", _user_and_password),
}

KINDS = (*_ISSUED, *_NAMED, *_IN_LINES)


def planted(kind: str, place: str) -> Planted:
    """A secret of a kind, another one for each place."""
    rng = random.Random(f"{kind}/{place}")
    slug = "".join(char if char.isalnum() else "_" for char in kind.lower())
    if kind in _NAMED:
        name, make = _NAMED[kind]
        value = make(rng)
        return Planted(kind, value, name, f"{name}={value}")
    if kind in _IN_LINES:
        line, make = _IN_LINES[kind]
        value = make(rng)
        return Planted(kind, value, f"run_{slug}", line.format(value), is_command=True)
    value = _ISSUED[kind](rng)
    # Names that do not tell: the value has to.
    return Planted(kind, value, f"setting_{KINDS.index(kind)}", f"use {value} there")
