"""Errors of experiences; each message is one line.

```
ExperienceError (a ContextKitError)
├── InvalidExperienceError      a field is wrong: which, what was found, what is expected
├── UnknownExperienceError      no experience has this id
└── ExperienceStateError        the experience is not in a state that allows this
```
"""

from __future__ import annotations

from typing import Any

from attrs import evolve, frozen

from contextkit.errors import ContextKitError

_SHOWN = 40


def described(value: Any) -> str:
    """Describe a value briefly, in JSON terms."""
    match value:
        case None:
            words = "nothing"
        case str():
            words = f"the text {value if len(value) <= _SHOWN else value[:_SHOWN] + '...'!r}"
        case bool():
            words = "true" if value else "false"
        case int() | float():
            words = f"the number {str(value)[:_SHOWN]}"
        case dict():
            words = "an object"
        case list() | tuple():
            words = "a list"
        case _:
            words = f"a {type(value).__name__}"
    return words


@frozen
class Problem:
    """An invalid field.

    Attributes:
        field: its name, dotted if nested (`lesson.what_worked`); empty for the whole.
        found: the value found.
        expected: the value expected.
        where: its file and line, or empty.
    """

    field: str
    found: str
    expected: str
    where: str = ""

    def __str__(self) -> str:
        prefix = "".join(f"{part}: " for part in (self.where, self.field) if part)
        return f"{prefix}found {self.found}, expected {self.expected}"


class ExperienceError(ContextKitError):
    """Base class of the errors of the experiences source."""

    exit_code = 2


class InvalidExperienceError(ExperienceError, ValueError):
    """An experience has an invalid value.

    Attributes:
        problem: the field, the value found and the value expected.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))

    def within(self, field: str) -> InvalidExperienceError:
        """Return the error for a field nested in another one."""
        return InvalidExperienceError(evolve(self.problem, field=f"{field}.{self.problem.field}"))

    def located(self, where: str) -> InvalidExperienceError:
        """Return the error with its file and line."""
        return InvalidExperienceError(evolve(self.problem, where=where))


class UnknownExperienceError(ExperienceError, LookupError):
    """No experience of the project or user has this id.

    Attributes:
        ghap_id: the requested id.
    """

    exit_code = 5

    def __init__(self, ghap_id: str) -> None:
        self.ghap_id = ghap_id
        super().__init__(
            f"there is no experience {ghap_id!r}: "
            f"`contextkit experience list` shows the ids there are"
        )


class ExperienceStateError(ExperienceError):
    """The experience's state does not allow this.

    It is resolved, or exists already.
    """
