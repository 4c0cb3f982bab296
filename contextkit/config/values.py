"""From a raw value of a setting to a checked one: strictly from a file, leniently from text."""

from __future__ import annotations

from typing import Any, cast

from attrs import Attribute

_SHOWN_CHARACTERS = 80


def structured(raw: object, attribute: Attribute[Any], *, as_text: bool) -> Any:
    """A setting's value, of its attribute's type and within its bounds.

    Args:
        raw: as it stands in the file, or in the variable.
        attribute: the setting.
        as_text: whether `raw` is text that stands for a value of another type.

    Raises:
        ValueError: saying what was expected.
    """
    # cattrs is imported with the first setting that anybody has made.
    from contextkit.config.convert import STRICT, TEXT

    converter = TEXT if as_text else STRICT
    try:
        value = converter.structure(raw, cast("Any", attribute.type))
        if attribute.validator is not None:
            attribute.validator(None, attribute, value)
    except Exception as error:
        shown = repr(raw)
        if len(shown) > _SHOWN_CHARACTERS:
            shown = f"{shown[:_SHOWN_CHARACTERS]}…"
        raise ValueError(f"expected {attribute.metadata['expected']}, got {shown}") from error
    return value
