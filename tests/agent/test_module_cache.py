"""The code of imported modules is cached for the next process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextkit.disk_cache import replace_cache

SCRIPT = """
import inspect, sys
from contextkit.agent.module_cache import cached_modules

with cached_modules():
    import dishes.soup
    from importlib.resources import files

    try:
        for number in range(20):
            __import__(f"dishes.dish{number}")
        print(dishes.soup.price, dishes.soup.__file__, dishes.__path__, dishes.soup.__cached__)
        print(inspect.getsource(dishes.soup), files("dishes").joinpath("menu").read_text(), end="")
    except ImportError as error:
        print(error)
    loaders = {type(sys.modules[name].__spec__.loader).__name__ for name in sys.argv[1:]}
print(*loaders)
"""
KEPT, READ = "_CachedLoader", "SourceFileLoader"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a package of many modules."""
    dishes = tmp_path / "site" / "dishes"
    dishes.mkdir(parents=True)
    for name in ("__init__", *(f"dish{number}" for number in range(20))):
        (dishes / f"{name}.py").touch()
    (dishes / "soup.py").write_text("price = 3\n")
    (dishes / "menu").write_text("soup\n")
    return dishes.parent


def run(
    site: Path,
    *names: str,
    script: str = SCRIPT,
    cwd: Path | None = None,
    safe: bool = False,
    **variables: str,
) -> list[str]:
    """Run a script in a process of its own; what it prints, and what loads these modules."""
    kept = {"PYTHONPATH": str(site), "PYTHONPYCACHEPREFIX": str(site.parent / "kept")}
    environment = {**os.environ, **kept}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    options = ["-P"] if safe else []
    ran = subprocess.run(
        [sys.executable, *options, "-c", script, *(names or ("dishes", "dishes.soup"))],
        cwd=cwd,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.splitlines()


def rewrite(file: Path, text: str) -> None:
    """Change a module as seconds later: Python compares whole seconds and sizes."""
    file.write_text(text)
    later = file.stat().st_mtime + 2
    os.utime(file, (later, later))


def cache_files(site: Path) -> list[Path]:
    """The files with cached modules."""
    return list(site.parent.rglob("module_cache.*opt-modules*"))


def test_the_second_process_imports_the_same_modules(site: Path) -> None:
    """They have the same attributes, sources and data."""
    *first, read = run(site)
    *second, kept = run(site)
    assert (read, kept) == (READ, KEPT)
    assert first == second
    assert first[0].startswith("3 ")
    assert len(cache_files(site)) == 1


def test_the_folder_in_which_a_process_runs_does_not_count(site: Path) -> None:
    """Its modules are not cached, and other processes have the same cached ones in any folder."""
    here = site.parent / "here"
    here.mkdir()
    for number in range(20):
        (here / f"guest{number}.py").write_text("import dishes.soup\n")
    guests = "; ".join(f"import guest{number}" for number in range(20))
    script = SCRIPT.replace("import dishes.soup", f"{guests}, dishes.soup", 1)
    run(site, "dishes.soup", "guest3", script=script, cwd=here)
    again = run(site, "dishes.soup", "guest3", script=script, cwd=here)
    assert set(again[-1].split()) == {KEPT, READ}
    assert run(site, "dishes.soup", safe=True)[-1] == KEPT


def test_a_process_can_cache_modules_without_using_them(site: Path) -> None:
    """As the background server does."""
    keeping = SCRIPT.replace(
        "with cached_modules():", "import contextlib\nwith contextlib.nullcontext():"
    )
    keeping += "\nfrom contextkit.agent.module_cache import cache_modules\ncache_modules()\n"
    assert [run(site, script=keeping)[-1] for _ in range(2)] == [READ, READ]
    assert run(site)[-1] == KEPT


def test_changed_modules_are_read_again(site: Path) -> None:
    """Also where the size is the same; the other modules are still cached."""
    run(site)
    rewrite(site / "dishes" / "soup.py", "price = 4\n")
    assert run(site, "dishes.soup")[0].startswith("4 ")
    assert run(site, "dishes.soup")[-1] == READ
    assert run(site, "dishes.dish1")[-1] == KEPT
    for number in range(20):
        rewrite(site / "dishes" / f"dish{number}.py", "price = 5\n")
    run(site)
    assert run(site, "dishes.dish1", "dishes.soup")[-1] == KEPT


def test_missing_modules_are_missed(site: Path) -> None:
    """A cached module may have been deleted since."""
    run(site)
    (site / "dishes" / "dish7.py").unlink()
    assert "No module named 'dishes.dish7'" in run(site)


def test_other_folders_have_other_modules(site: Path, tmp_path: Path) -> None:
    """A package that comes first on the path is imported, also if it is installed later."""
    other = tmp_path / "other"
    other.mkdir()
    both = os.pathsep.join(map(str, (other, site)))
    assert run(site, PYTHONPATH=both)[0].startswith("3 ")
    (other / "dishes").mkdir()
    for file in (site / "dishes").iterdir():
        (other / "dishes" / file.name).write_bytes(file.read_bytes())
    rewrite(other / "dishes" / "soup.py", "price = 9\n")
    assert run(site, PYTHONPATH=both)[0].startswith("9 ")
    assert run(site)[0].startswith("3 ")


@pytest.mark.parametrize("length", [0, 4, 300, -200])
def test_a_damaged_file_is_not_used(site: Path, length: int) -> None:
    """A module whose code is cut off is read from its own file."""
    expected = run(site)[:-1]
    [file] = cache_files(site)
    file.write_bytes(file.read_bytes()[:length])
    assert run(site)[:-1] == expected


def test_nothing_is_written_where_python_writes_no_bytecode(site: Path) -> None:
    """PYTHONDONTWRITEBYTECODE holds for this file too."""
    run(site, PYTHONDONTWRITEBYTECODE="1")
    assert cache_files(site) == []


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    """As on Windows while another process has it mapped; else each command would leave a copy."""
    (tmp_path / "kept").mkdir()
    with pytest.raises(OSError, match="kept"):
        replace_cache(str(tmp_path / "kept"), [b"code"])
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
