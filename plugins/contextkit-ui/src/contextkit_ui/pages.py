"""Render a view as HTML, in one escaping environment."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import jinja2
from attrs import frozen
from markupsafe import Markup, escape

from contextkit.text import visible
from contextkit_ui.model import ContextView

_STYLES = ("page.css",)
_REPORT_SCRIPTS = ("page.js",)
_UI_SCRIPTS = ("page.js", "ui.js", "views.js", "records.js", "settings.js", "sessions.js")


@frozen(kw_only=True)
class Controls:
    """The served page's controls and their initial values.

    Attributes:
        records_of: the sources whose records the page lists and edits.
        max_tokens: the initial budget.
        choices: option -> its allowed values, the initial one being `chosen[option]`.
        chosen: option -> its initial value.
    """

    records_of: tuple[str, ...]
    max_tokens: int
    choices: dict[str, tuple[str, ...]]
    chosen: dict[str, str]


def report_page(view: ContextView) -> str:
    """Return a page about one context, without external files."""
    return _page(
        "report.html", _REPORT_SCRIPTS, view=view, served=False, policy=_policy(_REPORT_SCRIPTS)
    )


def ui_page(controls: Controls, sources: Mapping[str, Any]) -> str:
    """Return the page of `contextkit ui`, before any query.

    Args:
        controls: the controls.
        sources: the values of the template of the sources' switches.
    """
    return _page("ui.html", _UI_SCRIPTS, controls=controls, **sources)


def result_html(view: ContextView) -> str:
    """Return the served page's answer to a query."""
    return render("result.html", view=view, served=True)


def render(template: str, **values: Any) -> str:
    """Return a part of the served page."""
    return _environment().get_template(template).render(**values)


def content_policy() -> str:
    """Return the served page's Content-Security-Policy.

    It allows the page's own style and script, and its own origin.
    """
    return f"{_policy(_UI_SCRIPTS)}; connect-src 'self'; frame-ancestors 'none'"


def _policy(scripts: tuple[str, ...]) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_source_hash(_asset(scripts))}",
            f"style-src {_source_hash(_asset(_STYLES))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _page(template: str, scripts: tuple[str, ...], **values: Any) -> str:
    style, script = Markup(_asset(_STYLES)), Markup(_asset(scripts))  # noqa: S704 - our own files
    return render(template, style=style, script=script, **values)


def _source_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@functools.cache
def _asset(names: tuple[str, ...]) -> str:
    """Join the plugin's files into one text for a page."""
    folder = resources.files("contextkit_ui") / "static"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("contextkit_ui"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.filters.update(percent=_percent, number=_number, time=_time, raw=_raw, code=_code)
    return environment


def _finalized(value: Any) -> Any:
    """Make a value's invisible characters visible, unless it is HTML."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _raw(value: str) -> Markup:
    """Escape a text for HTML alone, for a field in which people edit it."""
    return escape(value)


def _code(value: str) -> Markup:
    """Mark what stands between backticks as code."""
    parts = visible(value).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else part
        for number, part in enumerate(parts)
    )


def _percent(part: float, whole: float) -> str:
    """Return a part's share as a length in percent."""
    return f"{100 * part / whole:.3f}%" if whole else "0%"


def _number(value: int) -> str:
    return f"{value:,}"


def _time(milliseconds: float) -> str:
    """Format milliseconds for a person, with about three digits."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2f} s"
    digits = 0 if milliseconds >= 100 else 1 if milliseconds >= 1 else 2
    return f"{milliseconds:.{digits}f} ms"
