"""Code that attrs and `re` generate is cached for the next process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import attr
import pytest

from contextkit.agent.generated import cached_code

SCRIPT = """
import re, sys
from contextkit.agent.generated import cached_code

compiled = []
sys.addaudithook(lambda name, given: name == "compile" and compiled.append(given))
with cached_code():
    from attrs import frozen, make_class

    for number in range(20):
        make_class(f"Dish{number}", ["name"])

    @frozen
    class Dish:
        name: str
        price: int = 3

    pattern = re.compile(r"(?P<first>[a-zé]+)|\\\\d{2,}(?=x)", re.IGNORECASE)
made = sum("Dish" in str(name) for _, name in compiled)
soup = Dish("soup")
print(made, soup, soup == Dish("soup", 3), hash(soup) == hash(Dish("soup")))
print(pattern, pattern.groupindex, pattern.findall("É 12x Ab"), pattern.flags)
"""


def run(folder: Path, **variables: str) -> list[str]:
    """Run the script in a process of its own, which keeps code in a folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder), **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", SCRIPT]
    ran = subprocess.run(
        command, env={**environment, **variables}, capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


def cache_files(folder: Path) -> list[Path]:
    """The files with cached code."""
    return list(folder.rglob("generated.*opt-code*"))


def test_the_second_process_generates_nothing(tmp_path: Path) -> None:
    """Classes and patterns are the same, though the processes hash strings differently."""
    first = run(tmp_path, PYTHONHASHSEED="1")
    second = run(tmp_path, PYTHONHASHSEED="2")
    assert int(first[0].split()[0]) > 0
    assert int(second[0].split()[0]) == 0
    assert first[0].split()[1:] == second[0].split()[1:]
    assert first[1] == second[1]
    assert len(cache_files(tmp_path)) == 1


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xe9\x01"])
def test_a_broken_file_is_written_anew(tmp_path: Path, content: bytes) -> None:
    """The process generates the code, and the next one uses it."""
    first = run(tmp_path)
    [file] = cache_files(tmp_path)
    file.write_bytes(content)
    assert run(tmp_path)[1] == first[1]
    assert int(run(tmp_path)[0].split()[0]) == 0


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path: Path) -> None:
    """PYTHONDONTWRITEBYTECODE holds for this code too."""
    run(tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert cache_files(tmp_path) == []


def test_other_versions_of_attrs_generate_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version without the private module that is replaced works, and nothing is cached."""
    monkeypatch.delattr(attr, "_make")
    monkeypatch.setitem(sys.modules, "attr._make", None)
    generate = re._compiler.compile  # type: ignore[attr-defined]
    with cached_code():
        assert re._compiler.compile is generate  # type: ignore[attr-defined]
        assert re.findall("ti.e", "the tide") == ["tide"]
