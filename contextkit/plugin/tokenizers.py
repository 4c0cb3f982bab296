"""Find the token counter: an estimate, or a plugin's tokenizer."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from contextkit.errors import InvalidRequestError, SourceError, in_words
from contextkit.plugin.checks import Failed, checked_tokenizer, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.tokens import FAMILIES, TokenCounter, counter_for

_HOOK = "contextkit_tokenizer"
_FALLBACK = "openai"
_NO_PLUGIN = "; no plugin that is on offers one (pip install contextkit-tokenizers)"


def find_counter(registry: SourceRegistry, name: str, failed: Failed = log_failure) -> TokenCounter:
    """Find the counter for a model family or plugin tokenizer.

    Where a plugin's tokenizer fails on a text, the estimate for OpenAI's models counts that text,
    and `failed` is called.

    Raises:
        InvalidRequestError: if no counter has this name; the message includes plugins' errors.
    """
    if name in FAMILIES:
        return counter_for(name)
    plugins = registry.on_with(_HOOK)
    problems = []
    for plugin in plugins:
        try:
            count = registry.call(plugin, _HOOK, name=name)
            if count is not None:
                checked = checked_tokenizer(plugin, count)
                return TokenCounter(name, _Guarded(checked, plugin, failed))
        except SourceError as error:
            problems.append(error.reason)
    known = ", ".join(FAMILIES)
    asked = f"; plugins asked: {', '.join(plugins)}" if plugins else _NO_PLUGIN
    said = f" ({'; '.join(problems)})" if problems else ""
    raise InvalidRequestError(f"there is no tokenizer '{name}'; available: {known}{asked}{said}")


def requested_counter(registry: SourceRegistry, name: str, failed: Failed) -> TokenCounter:
    """Find the counter that a request or the setting `assemble.tokens` names.

    Raises `InvalidRequestError`, or `ConfigError` for the setting.
    """
    try:
        return find_counter(registry, name, failed)
    except InvalidRequestError as error:
        if name == registry.config.assemble.tokens:
            raise registry.config.refusal("assemble.tokens", str(error)) from error
        raise InvalidRequestError(f"tokens: {error}") from error


@frozen
class _Guarded:
    """A plugin's tokenizer that falls back to an estimate."""

    count: Callable[[str], int]
    plugin: str
    failed: Failed

    def __call__(self, text: str) -> int:
        try:
            tokens = self.count(text)
            if type(tokens) is int and tokens >= 0:
                return tokens
            reason = f"expected a whole number of at least 0, got {tokens!r}"
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of Rust code is no Exception
            reason = in_words(error)
        self.failed(self.plugin, _HOOK, reason)
        return counter_for(_FALLBACK)(text)
