"""Generate a working source's distribution from templates."""

from __future__ import annotations

import importlib.metadata
import shutil
import string
import tempfile
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from attrs import frozen

from contextkit.config.sections import SOURCE_NAME
from contextkit.config.settings import normalized
from contextkit.errors import ContextKitError
from contextkit.package import VERSION

_ENDING = ".template"
_LONGEST = 50


class NewSourceError(ContextKitError):
    """The name or place does not allow a new source.

    Nothing was written.
    """

    exit_code = 2


@frozen
class NewSource:
    """A new source to generate.

    Attributes:
        name: the source's name, and that of its entry point.
        records: whether people and agents write its records (`contextkit.sources`); else it
            indexes a file.
    """

    name: str
    records: bool = False

    @property
    def distribution(self) -> str:
        """The distribution's name."""
        return f"contextkit-{normalized(self.name)}"

    @property
    def module(self) -> str:
        """The package's name."""
        return self.distribution.replace("-", "_")

    def check_name(self, registered: Iterable[str]) -> None:
        """Refuse an invalid or used name.

        Args:
            registered: the names of the existing plugins.

        Raises:
            NewSourceError: with the problem of the name.
        """
        name = self.name
        if not SOURCE_NAME.fullmatch(name) or len(name) > _LONGEST:
            raise NewSourceError(
                f"'{name[:80]}' is not a source's name: lower-case letters, digits, - and _, a "
                f"letter first, {_LONGEST} characters at most{_suggestion(name)}"
            )
        if name.startswith(("contextkit-", "contextkit_")):
            raise NewSourceError(
                f"the distribution's name begins with contextkit- already: use '{name[11:]}'"
            )
        if name[-1] in "-_" or any(pair in name for pair in ("--", "__", "-_", "_-")):
            raise NewSourceError(f"'{name}': use single - or _, between letters or digits")
        for taken in registered:
            if normalized(taken) == normalized(name):
                raise NewSourceError(f"there is a plugin '{taken}' already: choose another name")
        if _installed(self.distribution):
            raise NewSourceError(
                f"{self.distribution} is installed already: choose another name than '{name}'"
            )

    def write(self, into: Path) -> list[Path]:
        """Write the distribution into a new folder of its name.

        Either all files are written, or none.

        Args:
            into: the folder in which the new one is made.

        Returns:
            The files.

        Raises:
            NewSourceError: where there is no such folder, or the new one is there already.
        """
        folder = into / self.distribution
        if not into.is_dir():
            raise NewSourceError(f"{into} is not a folder: make it first")
        if folder.exists() or folder.is_symlink():
            raise NewSourceError(f"{folder} already exists: nothing is overwritten")
        try:
            beside = Path(tempfile.mkdtemp(prefix=f".{self.distribution}-", dir=into))
            try:
                written = [self._write(beside, path, text) for path, text in self._texts()]
                beside.chmod(0o755)
                beside.rename(folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        except OSError as error:
            raise NewSourceError(f"cannot write {folder}: {error.strerror}") from error
        return [folder / path for path in written]

    def _write(self, folder: Path, path: str, text: str) -> str:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        return path

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of each file, sorted by path.

        Paths are relative to the distribution.
        """
        release = [int(part) for part in VERSION.split(".")[:2]]
        words = {
            "name": self.name,
            "module": self.module,
            "distribution": self.distribution,
            "title": self.name.replace("-", " ").replace("_", " ").capitalize(),
            "class_name": "".join(part.capitalize() for part in self.module.split("_")[1:]),
            "noun": _singular(self.name).replace("-", "_"),
            "name_": self.name.replace("-", "_"),
            "core": f"contextkit-core>={release[0]}.{release[1]},<{release[0]}.{release[1] + 1}",
        }
        folder = files("contextkit.cli") / "templates"
        kind = "records" if self.records else "file"
        found = [*_templates(folder / "common"), *_templates(folder / kind)]
        for path, template in sorted(found, key=lambda pair: pair[0]):
            text = template.read_text(encoding="utf-8")
            yield (
                path.replace("MODULE", self.module).removesuffix(_ENDING),
                string.Template(text).substitute(words),
            )


def _singular(name: str) -> str:
    """Return a plural's singular: `recipe` of `recipes`, `dish` of `dishes`.

    Other words stay, such as `status` and `news`.
    """
    if name.endswith(("is", "ss", "us", "news", "series", "species")):
        return name
    if name.endswith(("ches", "shes", "sses", "xes")):
        return name[:-2]
    if name.endswith("ies") and len(name) > 4:
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and len(name) > 1 else name


def _suggestion(name: str) -> str:
    suggested = normalized(name.strip()).replace(" ", "-").replace(".", "-")
    fits = SOURCE_NAME.fullmatch(suggested) and len(suggested) <= _LONGEST
    return f"; '{suggested}' would do" if fits else ""


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _templates(folder: Traversable, below: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _templates(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_ENDING):
            yield f"{below}{entry.name}", entry
