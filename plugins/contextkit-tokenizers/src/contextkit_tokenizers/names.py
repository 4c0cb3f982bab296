"""Map names of encodings and OpenAI models to encodings."""

from __future__ import annotations

_O200K = "o200k_base"
_CL100K = "cl100k_base"
_FINE_TUNED = "ft:"

# Harmony has special tokens of its own; plain text gives the same tokens as o200k_base.
ENCODINGS = {_O200K: _O200K, _CL100K: _CL100K, "o200k_harmony": _O200K}

MODELS = {
    "o1": _O200K,
    "o3": _O200K,
    "o4-mini": _O200K,
    "gpt-4o": _O200K,
    "gpt-4.1": _O200K,
    "gpt-4": _CL100K,
    "gpt-3.5": _CL100K,
    "gpt-3.5-turbo": _CL100K,
    "gpt-35-turbo": _CL100K,
    "davinci-002": _CL100K,
    "babbage-002": _CL100K,
    "text-embedding-ada-002": _CL100K,
    "text-embedding-3-small": _CL100K,
    "text-embedding-3-large": _CL100K,
}

# No prefix is the beginning of another, so their order does not matter.
PREFIXES = {
    "o1-": _O200K,
    "o3-": _O200K,
    "o4-mini-": _O200K,
    "gpt-5": _O200K,
    "gpt-4.5-": _O200K,
    "gpt-4.1-": _O200K,
    "gpt-4o-": _O200K,
    "chatgpt-4o-": _O200K,
    "gpt-oss-": _O200K,
    "gpt-4-": _CL100K,
    "gpt-3.5-turbo-": _CL100K,
    "gpt-35-turbo-": _CL100K,
}


def encoding_of(name: str) -> str | None:
    """Return a name's encoding, `o200k_base` or `cl100k_base`.

    Args:
        name: an encoding, a model or one of its versions (`gpt-4o-2024-11-20`), or a
            fine-tuned model, which has the encoding of the model it was made from
            (`ft:gpt-4o-mini:acme`).

    Returns:
        None for every other name, also one that nearly matches.
    """
    if name in ENCODINGS:
        return ENCODINGS[name]
    model = name
    if name.startswith(_FINE_TUNED):
        model = name.removeprefix(_FINE_TUNED).partition(":")[0]
    if model in MODELS:
        return MODELS[model]
    return next((found for prefix, found in PREFIXES.items() if model.startswith(prefix)), None)
