"""Expose a request's options as parameters of a tool."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from contextkit.errors import InvalidRequestError
from contextkit.models import OPTIONS, checked_option, values_of

_SET = "set"


def request_parameters(*common: str, others: bool = True) -> Callable[..., Callable[..., Any]]:
    """Add request options to a tool's function, passed as `options`.

    Args:
        common: the options that are parameters of the tool.
        others: whether `set` takes every other one that agents may set.
    """

    def decorate(run: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(run)
        own = [each for name, each in signature.parameters.items() if name != "options"]
        taken = [*_parameters(common), *([_set_parameter()] if others else [])]

        @functools.wraps(run)
        async def asked(*args: Any, **given: Any) -> Any:
            named = {name: given.pop(name) for name in common if name in given}
            options = {**(given.pop(_SET, None) or {}), **named}
            return await run(*args, options=_checked(options), **given)

        made: Any = asked
        made.__signature__ = signature.replace(parameters=[*own, *taken])
        return asked

    return decorate


def _parameters(common: Sequence[str]) -> Iterator[inspect.Parameter]:
    for name in common:
        field = OPTIONS[name]
        yield _parameter(name, Annotated[Any, values_of(field), field.metadata["help"]])


def _set_parameter() -> inspect.Parameter:
    # An unknown name is answered with the list of all names.
    about = "Other options by name, such as detail, exclude or strategy."
    return _parameter(_SET, Annotated[dict[str, Any], about])


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name in OPTIONS and OPTIONS[name].metadata["host_only"]:
            raise InvalidRequestError(f"{name} is set by the host, not by an agent")
    return {name: checked_option(name, value) for name, value in given.items()}
