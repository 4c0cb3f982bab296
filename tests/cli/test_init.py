"""`contextkit init`: a file that changes nothing, and whose every line can be taken up."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit.config.load import load_config
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import find_workspace

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

SETTING = re.compile(r"#([a-z_]+) = .+")
TABLE = re.compile(r"\[([\w.-]+)\]")
TIDES = """
    from contextkit import SourceInfo, hookimpl

    SETTINGS = {"harbour": 'Kiel "old"', "metres": 2.5, "gauges": ["a", "b"], "spring": True}

    @hookimpl
    def contextkit_source():
        return SourceInfo(
            description="high and\\nlow \\x1b[1m water",
            settings=SETTINGS,
        )

    @hookimpl
    def contextkit_query(request):
        return []

    @hookimpl
    def contextkit_check_settings(settings):
        known = {"harbour": str, "metres": float, "gauges": list, "spring": bool}
        return [f"{key}: wrong" for key, value in settings.items()
                if not isinstance(value, known.get(key, ()))]
    """


def written(contextkit: CommandLine) -> Path:
    """The file that a first `contextkit init` writes."""
    result = contextkit("init")
    assert (result.exit_code, result.stderr) == (0, "")
    file = contextkit.folder / "contextkit.toml"
    assert str(file) in result.stdout
    return file


def settings_in(text: str) -> list[tuple[str, str]]:
    """Each commented setting, by its table, and its line without the mark."""
    table, found = "", []
    for line in text.splitlines():
        heading = TABLE.fullmatch(line)
        setting = SETTING.fullmatch(line)
        if heading:
            table = heading.group(1)
        elif setting:
            found.append((table, line.removeprefix("#")))
        else:
            assert not line or line.startswith(("# ", "#")), line
    return found


def test_it_changes_nothing(contextkit: CommandLine) -> None:
    """The file is valid TOML without a setting, and is found from then on."""
    before = contextkit.json("config", "show")
    file = written(contextkit)
    parsed = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = [*parsed.pop("sources").values(), *parsed.pop("strategies").values()]
    assert all(table == {} for table in [*parsed.values(), *tables])
    after = contextkit.json("config", "show")
    assert after.pop("project_file") == str(file)
    assert before.pop("project_file") is None
    assert after == before


@pytest.mark.usefixtures("unconfigured")
def test_every_setting_is_valid_when_it_is_uncommented(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """One by one and all together: the file loads, sources accept theirs."""
    install("tides", TIDES)
    file = written(contextkit)
    text = file.read_text(encoding="utf-8")
    found = settings_in(text)
    assert len(found) > 50
    for table, line in found:
        file.write_text(f"[{table}]\n{line}\n" if table else f"{line}\n", encoding="utf-8")
        config = load_config(find_workspace(contextkit.folder))
        assert len(config.origins) == 1, line
    whole = re.sub(r"^#([a-z_]+ = )", r"\1", text, flags=re.MULTILINE)
    file.write_text(whole, encoding="utf-8")
    config = load_config(find_workspace(contextkit.folder))
    assert len(config.origins) == len(found)
    assert not [s for s in SourceRegistry(config).plugins if s.state != "on"]


@pytest.mark.usefixtures("unconfigured")
def test_the_settings_are_at_their_defaults(contextkit: CommandLine) -> None:
    """Uncommented, a setting is what it was, unless it is marked as an example."""
    file = written(contextkit)
    defaults = contextkit.json("config", "show")["settings"]
    lines = file.read_text(encoding="utf-8").splitlines()
    assert sum("# (example)" in line for line in lines) < len(lines) / 4
    kept = [line for line in lines if "# (example)" not in line]
    text = re.sub(r"^#([a-z_]+ = )", r"\1", "\n".join(kept), flags=re.MULTILINE)
    file.write_text(text, encoding="utf-8")
    settings = contextkit.json("config", "show")["settings"]
    for key, row in defaults.items():
        assert settings[key]["value"] == row["value"], key


def test_it_has_what_a_project_may_set_and_nothing_else(contextkit: CommandLine) -> None:
    """The store, the models that read records, and their place stay the user's."""
    text = written(contextkit).read_text(encoding="utf-8")
    tables = set(TABLE.findall(text))
    assert {"assemble", "ranking", "hooks", "sources.code", "sources.memories"} <= tables
    assert not tables & {"store", "embedding"}
    assert not re.search(r"^#?embedder", text, re.MULTILINE)


def test_it_tells_what_was_found(contextkit: CommandLine, repository: Repository) -> None:
    """Files by kind, without what git ignores; documentation, history, sources and weights."""
    repository.commit("More", {"docs/a.md": "# A\n", "b.py": "", ".gitignore": "*.log\n"})
    (repository.folder / "noise.log").write_text("noise")
    (repository.folder / "new.rs").write_text("fn main() {}\n")
    text = written(contextkit).read_text(encoding="utf-8")
    assert "# Found here: 7 files, 3 commits." in text
    assert re.search(r"^# +3  \.md  Markdown$", text, re.MULTILINE)
    assert re.search(r"^# +2  \.py  Python$", text, re.MULTILINE)
    assert re.search(r"^# +1  \.rs  Rust$", text, re.MULTILINE)
    assert ".log" not in text
    assert "# Documentation: README.md, docs/\n" in text
    code = text.partition("[sources.code]")[2].partition("[sources.commits]")[0]
    assert "#weight = 2.0" in code
    assert "#priority = 80" in code


def test_a_sources_own_settings_are_there(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """What a source says of its settings is written with their defaults, as TOML."""
    install("tides", TIDES)
    text = written(contextkit).read_text(encoding="utf-8")
    tides = text.partition("[sources.tides]")[2].partition("\n\n")[0]
    assert (
        '#harbour = "Kiel \\"old\\""\n#metres = 2.5\n#gauges = ["a", "b"]\n#spring = true' in tides
    )
    assert "# their-tides 2.1; high and low  [1m water\n" in text


@pytest.mark.parametrize("settings", ['{"two words": 1}', '{"when": None}', '{"all": [{}]}', "[]"])
def test_settings_that_no_file_can_have(
    contextkit: CommandLine, install: Callable[..., str], settings: str
) -> None:
    """A source that tells of such is broken, and says why."""
    install("tides", re.sub("SETTINGS = .*", f"SETTINGS = {settings}", TIDES))
    [tides] = [row for row in contextkit.json("sources") if row["name"] == "tides"]
    assert tides["state"] == "broken"
    assert "settings" in tides["reason"]


def test_sources_that_are_off_or_broken_are_told(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """They have no more than the switch."""
    install("tides", "raise RuntimeError('no harbour')")
    text = contextkit("--disable", "values", "init", "--print").stdout
    assert "# their-tides 2.1; broken: RuntimeError: no harbour\n[sources.tides]\n" in text
    assert re.search(
        r"^# contextkit-values \S+; off: off by --disable values\n\[sources.values\]\n#enabled = ",
        text,
        re.MULTILINE,
    )


def test_a_file_that_is_there_stays(contextkit: CommandLine) -> None:
    """It is refused with the way to see a new one, and there is no way to force it."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text("[assemble]\nlimit = 3\n")
    said = contextkit.line(3, "init")
    assert str(file) in said
    assert "`contextkit init --print`" in said
    assert file.read_text() == "[assemble]\nlimit = 3\n"
    assert "#max_tokens = 2000" in contextkit("init", "--print").stdout
    assert "No such option '--force'" in contextkit.line(2, "init", "--force")


def test_settings_in_a_pyproject_stay_in_force(contextkit: CommandLine) -> None:
    """A second file would put them out of force in silence."""
    (contextkit.folder / "pyproject.toml").write_text("[tool.contextkit.assemble]\nlimit = 3\n")
    assert "pyproject.toml" in contextkit.line(3, "init")
    assert not (contextkit.folder / "contextkit.toml").exists()


def test_a_link_to_nowhere_is_not_followed(contextkit: CommandLine, tmp_path: Path) -> None:
    """What a link points to is not made either."""
    (contextkit.folder / "contextkit.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert "cannot be written: File exists" in contextkit.line(1, "init")
    assert not (tmp_path / "elsewhere.toml").exists()


def test_print_writes_nothing(contextkit: CommandLine) -> None:
    """It prints the same text as would be written."""
    shown = contextkit("init", "--print").stdout
    assert not (contextkit.folder / "contextkit.toml").exists()
    assert shown == written(contextkit).read_text(encoding="utf-8").rstrip("\n") + "\n"


def test_it_is_written_at_the_root(
    contextkit: CommandLine, elsewhere: Callable[..., CommandLine]
) -> None:
    """From a folder in the repository the repository's root gets it."""
    inner = contextkit.folder / "inner"
    inner.mkdir()
    assert elsewhere(inner)("init").exit_code == 0
    assert (contextkit.folder / "contextkit.toml").is_file()
    assert list(inner.iterdir()) == []


def test_names_are_hostile(
    elsewhere: Callable[..., CommandLine], new_repository: Callable[..., Repository]
) -> None:
    """A file's or folder's name cannot end the comment that it stands in."""
    folder = new_repository('na"me\n[store]\nurl = "x"\n#\udc80').folder
    for name in ("README.md\n[store]", "a.x\n[store]", "b.\x1b[1m", "docs\n/a.md", "c.\udcff"):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    (folder / "README.md").write_text("")
    here = elsewhere(folder)
    assert here("init").exit_code == 0
    text = (folder / "contextkit.toml").read_text(encoding="utf-8")
    assert "[store]" not in TABLE.findall(text)
    assert "store" not in tomllib.loads(text)
    assert '#project = "my-project"' in text
    assert "\x1b" not in text
    assert here.json("config", "show")["settings"]["store.url"]["value"] is None


def test_a_folder_without_git(elsewhere: Callable[..., CommandLine], tmp_path: Path) -> None:
    """The files are found by looking, hidden and installed ones aside."""
    for name in ("a.py", ".hidden/b.py", "node_modules/c.js", "lib/d.py", "e"):
        (tmp_path / "plain" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plain" / name).write_text("")
    here = elsewhere(tmp_path / "plain", {"PATH": str(tmp_path)})
    assert here("init").exit_code == 0
    text = (tmp_path / "plain" / "contextkit.toml").read_text(encoding="utf-8")
    assert "# Found here: 3 files, no history." in text
    assert re.search(r"^# +2  \.py  Python$", text, re.MULTILINE)
    assert ".js" not in text


def test_an_empty_repository(
    elsewhere: Callable[..., CommandLine], new_repository: Callable[..., Repository]
) -> None:
    """Nothing is there yet, and the file is written all the same."""
    folder = new_repository("empty").folder
    assert elsewhere(folder)("init").exit_code == 0
    assert "# Found here: 0 files, no history." in (folder / "contextkit.toml").read_text()
