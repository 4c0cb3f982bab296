"""Functions for formatting, shortening and analysing texts.

| module | task |
|---|---|
| `styles` | writes texts, lines, places and whole items in each output style |
| `markup` | makes any text safe to show as Markdown, XML or plain text |
| `truncation`, `units`, `passages`, `parts`, `blocks` | shortens texts where they can be cut |
| `tokens`, `token_weights` | counts tokens |
| `signals`, `questions`, `words`, `languages` | reads what a question is about |
| `dates`, `changes` | reads times in a question, and what one about changes is about |
| `spellings` | writes a question as the texts that answer it spell its words |
| `keywords` | makes the sparse vectors of keyword search, and knows irregular forms |
| `clean`, `given`, `graphemes` | shows invisible characters, checks texts that were given |
| `secrets` | finds keys and passwords |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.package import lazy_names

if TYPE_CHECKING:
    from contextkit.text.changes import changes_subject as changes_subject
    from contextkit.text.clean import (
        legible as legible,
        visible as visible,
        visible_values as visible_values,
    )
    from contextkit.text.dates import (
        closeness as closeness,
        named_dates as named_dates,
        parse_since as parse_since,
        without_periods as without_periods,
    )
    from contextkit.text.given import (
        given_line as given_line,
        given_lines as given_lines,
        well_formed as well_formed,
    )
    from contextkit.text.graphemes import is_boundary as is_boundary
    from contextkit.text.keywords import base_form as base_form
    from contextkit.text.languages.read import in_english as in_english, language_of as language_of
    from contextkit.text.markup import (
        code_span as code_span,
        escape_markdown as escape_markdown,
        escape_xml as escape_xml,
        fenced as fenced,
        line_start_safe as line_start_safe,
        markdown_text as markdown_text,
        one_line as one_line,
        plain_line as plain_line,
        plain_text as plain_text,
    )
    from contextkit.text.parts import Parts as Parts
    from contextkit.text.passages import Excerpt as Excerpt, excerpt as excerpt
    from contextkit.text.past import named_periods as named_periods
    from contextkit.text.questions import (
        first_line as first_line,
        is_traceback as is_traceback,
        signals_of as signals_of,
        subject_stems as subject_stems,
        subject_words as subject_words,
    )
    from contextkit.text.secrets import find_secrets as find_secrets, hide_secrets as hide_secrets
    from contextkit.text.secrets.span import SecretSpan as SecretSpan
    from contextkit.text.signals import (
        INTENTS as INTENTS,
        TOPICS as TOPICS,
        Intent as Intent,
        QuerySignals as QuerySignals,
        Topic as Topic,
    )
    from contextkit.text.spellings import without_quantity as without_quantity
    from contextkit.text.styles import (
        TEXT_STYLES as TEXT_STYLES,
        TextStyle as TextStyle,
        element as element,
        opening_tag as opening_tag,
        style_of as style_of,
    )
    from contextkit.text.tokens import (
        TokenCounter as TokenCounter,
        estimate_tokens as estimate_tokens,
    )
    from contextkit.text.truncation import ELLIPSIS as ELLIPSIS, truncate as truncate
    from contextkit.text.words import (
        STOP_WORDS as STOP_WORDS,
        TALK as TALK,
        VERBS as VERBS,
        counted as counted,
    )

_NAMES = {
    "changes": "changes_subject",
    "clean": "legible visible visible_values",
    "spellings": "without_quantity",
    "dates": "closeness named_dates parse_since without_periods",
    "given": "given_line given_lines well_formed",
    "graphemes": "is_boundary",
    "keywords": "base_form",
    "languages.read": "in_english language_of",
    "markup": (
        "code_span escape_markdown escape_xml fenced line_start_safe markdown_text "
        "one_line plain_line plain_text"
    ),
    "parts": "Parts",
    "passages": "Excerpt excerpt",
    "past": "named_periods",
    "questions": "first_line is_traceback signals_of subject_stems subject_words",
    "secrets": "find_secrets hide_secrets",
    "secrets.span": "SecretSpan",
    "signals": "INTENTS TOPICS Intent QuerySignals Topic",
    "styles": "TEXT_STYLES TextStyle element opening_tag style_of",
    "tokens": "TokenCounter estimate_tokens",
    "truncation": "ELLIPSIS truncate",
    "words": "STOP_WORDS TALK VERBS counted",
}

__all__ = [name for names in _NAMES.values() for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)
