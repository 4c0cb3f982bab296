"""What can go wrong with an experience; each error is one line for a person.

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
    """Say in a few words what a value is, as a person who writes JSON would."""
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
    """What is wrong with one field.

    Attributes:
        field: its name, dotted where it lies deeper (`lesson.what_worked`); may be empty
            for the whole.
        found: what was found.
        expected: what is expected.
        where: the file and line it stands in, or empty.
    """

    field: str
    found: str
    expected: str
    where: str = ""

    def __str__(self) -> str:
        prefix = "".join(f"{part}: " for part in (self.where, self.field) if part)
        return f"{prefix}found {self.found}, expected {self.expected}"


class ExperienceError(ContextKitError):
    """Base of the errors of the experiences source."""

    exit_code = 2


class InvalidExperienceError(ExperienceError, ValueError):
    """An experience cannot be as it is given.

    Attributes:
        problem: the field, what was found and what is expected.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))

    def within(self, field: str) -> InvalidExperienceError:
        """The same error for a field that lies in another one."""
        return InvalidExperienceError(evolve(self.problem, field=f"{field}.{self.problem.field}"))

    def located(self, where: str) -> InvalidExperienceError:
        """The same error, saying also where it stands (a file and a line)."""
        return InvalidExperienceError(evolve(self.problem, where=where))


class UnknownExperienceError(ExperienceError, LookupError):
    """No experience of this project or of the user has this id.

    Attributes:
        ghap_id: the id that was asked for.
    """

    exit_code = 5

    def __init__(self, ghap_id: str) -> None:
        self.ghap_id = ghap_id
        super().__init__(
            f"there is no experience {ghap_id!r}: "
            f"`contextkit experience list` shows the ids there are"
        )


class ExperienceStateError(ExperienceError):
    """The experience is not in a state that allows this (it is resolved, or already there)."""
