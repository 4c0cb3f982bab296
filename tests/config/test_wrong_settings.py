"""What is wrong with a setting, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.config.sections import SourceSettings
from contextkit.errors import ConfigError
from tests.config.conftest import Load, refused


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "project",
            "[sources.my-source]\nlimit = 2\n\n[sources.my_source]\nweight = 2\n",
            "contextkit.toml:4: sources.my_source: the same name as sources.my-source in line 1, "
            "because - and _ are equivalent in names: keep one of them",
        ),
        (
            "user",
            "[strategies]\na_b.recency = 2\n'a-b' = {recency = 1}\n",
            "config.toml:3: strategies.a-b: the same name as strategies.a_b in line 2, ",
        ),
        (
            "pyproject",
            "[tool.contextkit.strategies.a_b]\nrecency = 2\n"
            "[tool.contextkit.strategies.ab]\nrecency = 2\n"
            "[tool.contextkit.strategies.a-b.budget]\ncode = 2\n",
            "pyproject.toml:5: strategies.a-b: the same name as strategies.a_b in line 1, ",
        ),
        (
            "project",
            "[strategies.x]\nrecency = 2\nlimits = {a_b = 1, c = 2, a-b = 3}\n",
            "contextkit.toml:3: strategies.x.limits: 'a_b' and 'a-b' are one source's name: keep",
        ),
        ("user", "[sources.Mine]\nlimit = 2\n[sources.mine]\n", "a source's name is lower-case"),
    ],
)
def test_two_spellings_of_one_name_are_refused(load: Load, file: str, text: str, said: str) -> None:
    """In one file neither is picked in silence; both are named with their lines."""
    assert said in str(refused(load, **{file: text}))


def test_two_spellings_of_one_setting_are_refused_outside_of_files(load: Load) -> None:
    """The environment's and a host's own; one layer may spell what another spells otherwise."""
    variables = {"CONTEXTKIT_SOURCES_A_B_LIMIT": "3", "CONTEXTKIT_SOURCES_A-B_LIMIT": "4"}
    error = refused(load, environment=variables)
    assert error.key == "CONTEXTKIT_SOURCES_A_B_LIMIT"
    assert "the same setting as CONTEXTKIT_SOURCES_A-B_LIMIT: keep one of them" in str(error)
    budget = {"CONTEXTKIT_STRATEGIES_X_BUDGET": "a_b=50, a-b=20"}
    assert "'a_b' and 'a-b' are one source's name" in str(refused(load, environment=budget))
    error = refused(load, flags={"sources.a-b.limit": 3, "sources.a_b.limit": 4})
    assert (
        str(error) == "sources.a_b.limit: the same setting as sources.a-b.limit: keep one of them"
    )
    assert load(user="[sources.a_b]\nlimit = 2\n", project="[sources.a-b]\nlimit = 3\n").source(
        "a_b"
    ) == SourceSettings(limit=3)


def test_a_home_of_nobody_is_refused(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named."""
    monkeypatch.setenv("CONTEXTKIT_HOME", "~nobody-of-that-name/kit")
    with pytest.raises(ConfigError, match="CONTEXTKIT_HOME: expected a folder, got '~nobody"):
        load()


EXPECTED = [
    ("[assemble]\nmax_tokens = '5'", 2, "assemble.max_tokens", "a whole number of at least 1"),
    ("[assemble]\nmax_tokens = true", 2, "assemble.max_tokens", "a whole number of at least 1"),
    ("[assemble]\n\nlimit = -3", 3, "assemble.limit", "a whole number of at least 1"),
    ("[assemble]\nsources = 'code'", 2, "assemble.sources", "a list of source names"),
    ("[assemble]\ndeadline = nan", 2, "assemble.deadline", "a number of seconds over 0"),
    ("[assemble]\nstyle = 'html'", 2, "assemble.style", "one of markdown, xml, plain"),
    ("[assemble]\noverflow = 'maybe'", 2, "assemble.overflow", "one of hard, soft"),
    ("[assemble]\nmin_relevance = 1.5", 2, "assemble.min_relevance", "a number within 0..1"),
    ("project = 3", 1, "project", "a name"),
    ("[sources.code]\nenabled = 'yes'", 2, "sources.code.enabled", "true or false"),
    ("[sources.code]\nweight = inf", 2, "sources.code.weight", "a number over 0"),
    ("[sources.code]\npriority = 101", 2, "sources.code.priority", "a whole number within 1..100"),
    ("[sources]\ncode.limit = 0", 2, "sources.code.limit", "a whole number of at least 1"),
    ("sources.code = { timeout = 0 }", 1, "sources.code.timeout", "a number of seconds over 0"),
    ("assemble = { limit = 0 }", 1, "assemble.limit", "a whole number of at least 1"),
    ("[ assemble ]\n'limit' = 0", 2, "assemble.limit", "a whole number of at least 1"),
    ("project = '\u2028'\n[assemble]\nlimit = 0", 3, "assemble.limit", "a whole number"),
]


@pytest.mark.parametrize(("text", "line", "key", "expected"), EXPECTED)
def test_a_wrong_value_names_file_line_key_and_what_is_right(
    load: Load, root: Path, text: str, line: int, key: str, expected: str
) -> None:
    """Each malformed value of a project file."""
    error = refused(load, project=text)
    file = root / "contextkit.toml"
    assert (error.file, error.line, error.key) == (file, line, key)
    assert str(error).startswith(f"{file}:{line}: {key}: expected {expected}")
    assert ", got " in str(error)


@pytest.mark.parametrize(
    ("text", "line", "key", "hint"),
    [
        ("[assemble]\nmax_token = 5", 2, "assemble.max_token", "did you mean assemble.max_tokens?"),
        ("[assemble]\nzzz = 5", 2, "assemble.zzz", "known: breaker_cooldown, breaker_failures, "),
        ("[assembel]\nlimit = 5", 1, "assembel", "did you mean assemble?"),
        ("\nzzz = 5", 2, "zzz", "known: assemble, cache, embedding, history, hooks, project, "),
    ],
)
def test_an_unknown_key_names_the_nearest(
    load: Load, root: Path, text: str, line: int, key: str, hint: str
) -> None:
    """A misspelt setting is an error, not silence."""
    error = refused(load, project=text)
    assert str(error).startswith(
        f"{root / 'contextkit.toml'}:{line}: {key}: unknown setting; {hint}"
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("assemble = 3", 1, "assemble: expected a table, [assemble]"),
        ("[[assemble]]\nlimit = 1", None, "assemble: expected a table, [assemble]"),
        ("\nsources = ['code']", 2, "sources: expected a table, [sources]"),
        ("[sources]\ncode = false", 2, "sources.code: expected a table, [sources.code]"),
        ("[sources.'My Code']\nlimit = 1", 1, "sources.My Code: a source's name is lower-case"),
    ],
)
def test_a_value_in_place_of_a_table(
    load: Load, root: Path, text: str, line: int | None, message: str
) -> None:
    """The error names the table that was expected."""
    error = refused(load, project=text)
    where = f"{root / 'contextkit.toml'}:{line}: " if line else f"{root / 'contextkit.toml'}: "
    assert str(error).startswith(f"{where}{message}")


def test_our_table_in_pyproject_must_be_one(load: Load, root: Path) -> None:
    """`contextkit = 3` below `[tool]` is an error, not a crash."""
    error = refused(load, pyproject="[tool]\ncontextkit = 3")
    assert str(error) == f"{root / 'pyproject.toml'}:2: tool.contextkit: expected a table"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[assemble]\nlimit =\n", 2),
        ("limit = 1\nlimit = 2\n", 2),
        ("[assemble]\nstyle = 'x", 2),
        ("a = [1,\n2,\n", 3),
    ],
)
def test_what_is_not_toml_names_the_line(load: Load, root: Path, text: str, line: int) -> None:
    """A syntax error says where it is."""
    error = refused(load, project=text)
    assert (error.file, error.line) == (root / "contextkit.toml", line)
    assert "not valid TOML: " in str(error)


@pytest.mark.parametrize("text", [f"limit = {'9' * 5000}", f"limit = {'[' * 100_000}"])
def test_a_hostile_file_is_an_error(load: Load, root: Path, text: str) -> None:
    """A number or a nesting without end in a cloned repository does not crash."""
    error = refused(load, project=text)
    assert str(error).startswith(f"{root / 'contextkit.toml'}: not valid TOML: ")


def test_a_file_that_is_not_text(load: Load, root: Path) -> None:
    """Bytes that are not UTF-8 are named as such."""
    (root / "contextkit.toml").write_bytes(b"project = '\xff'\n")
    assert "contextkit.toml: cannot be read: 'utf-8' codec" in str(refused(load))


def test_a_home_that_cannot_be_read(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """An impossible `CONTEXTKIT_HOME` is an error in words."""
    monkeypatch.setenv("CONTEXTKIT_HOME", "/" + "x" * 5000)
    assert "config.toml: cannot be read: " in str(refused(load))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("contextkit.toml", "[store]\nurl = 'https://x'", 2),
        ("contextkit.toml", "store.path = '/tmp'", 1),
        ("pyproject.toml", "[tool.contextkit]\nstore = { collection = 'x' }", 2),
        ("contextkit.toml", "\n[embedding]\nmodel = 'openai:x'", 3),
        ("contextkit.toml", "embedding.timeout = 9", 1),
        ("contextkit.toml", "[sources.memories]\nembedder = 'openai:x'", 2),
        ("pyproject.toml", "[tool.contextkit]\nsources.code.embedder = 'none'", 2),
    ],
)
def test_a_project_neither_moves_the_store_nor_chooses_who_reads_it(
    load: Load, root: Path, home: Path, name: str, text: str, line: int
) -> None:
    """A cloned repository could send the user's records away."""
    (root / name).write_text(text)
    error = refused(load)
    assert (error.file, error.line) == (root / name, line)
    assert f"set it in {home / 'config.toml'} or in the environment" in str(error)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("embedding.model = 'none '", "embedding.model"),
        ("embedding.model = 'wordlama'", "embedding.model"),
        ("embedding.model = 'default'", "embedding.model"),
        ("embedding.model = 'openai:'", "embedding.model"),
        ("embedding.model = 3", "embedding.model"),
        ("sources.code.embedder = ''", "sources.code.embedder"),
        ("sources.code.embedder = ':x'", "sources.code.embedder"),
        ("sources.code.embedder = true", "sources.code.embedder"),
    ],
)
def test_what_is_no_models_name_is_refused(load: Load, home: Path, text: str, key: str) -> None:
    """The user's own file names a built-in model, or a provider and what it shall give."""
    error = refused(load, user=text)
    assert (error.file, error.line, error.key) == (home / "config.toml", 1, key)
    assert "wordllama, none, or a plugin's PROVIDER:MODEL" in str(error)


def test_the_token_of_a_plugins_command_is_no_setting(load: Load) -> None:
    """A command reads it itself; what begins with a section's name is a slip."""
    assert load(environment={"CONTEXTKIT_TIDE_TOKEN": "secret"}) == load()
    for variable in ("CONTEXTKIT_STORE_TOKEN", "CONTEXTKIT_SOURCES_TOKEN", "CONTEXTKIT_TOKEN"):
        with pytest.raises(ConfigError, match="no setting belongs to this environment variable"):
            load(environment={variable: "secret"})


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("CONTEXTKIT_ASSEMBLE_MAX_TOKEN", "; did you mean CONTEXTKIT_ASSEMBLE_MAX_TOKENS?"),
        ("CONTEXTKIT_SOURCES_CODE_COLOUR", ""),
        ("CONTEXTKIT_SOURCES__ENABLED", "; did you mean CONTEXTKIT_HISTORY_ENABLED?"),
        ("CONTEXTKIT_QQQ", ""),
    ],
)
def test_an_unknown_variable_names_the_nearest(load: Load, variable: str, hint: str) -> None:
    """A misspelt variable is an error, also an empty one."""
    for value in ("1", ""):
        error = refused(load, environment={variable: value})
        assert str(error) == f"{variable}: no setting belongs to this environment variable{hint}"


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("CONTEXTKIT_ASSEMBLE_LIMIT", "many", "a whole number of at least 1, got 'many'"),
        ("CONTEXTKIT_ASSEMBLE_LIMIT", "0", "a whole number of at least 1, got '0'"),
        ("CONTEXTKIT_ASSEMBLE_DEADLINE", "nan", "a number of seconds over 0, got 'nan'"),
        ("CONTEXTKIT_SOURCES_CODE_ENABLED", "maybe", "true or false, got 'maybe'"),
    ],
)
def test_a_wrong_variable_is_named(load: Load, variable: str, value: str, expected: str) -> None:
    """The error says which variable it came from."""
    error = refused(load, environment={variable: value})
    assert str(error).endswith(f": expected {expected} (from {variable})")


@pytest.mark.parametrize("key", ["sources", "sources.code", "sources..limit", "sources.Ä.limit"])
def test_a_flag_for_no_setting_of_a_source(load: Load, key: str) -> None:
    """A host's misspelt key is an error."""
    assert str(refused(load, flags={key: 1})) == f"{key.lower()}: expected sources.NAME.SETTING"


def test_a_flag_for_no_setting(load: Load) -> None:
    """And so is one that is no source's."""
    assert "unknown setting; did you mean assemble.limit" in str(
        refused(load, flags={"assemble.limits": 1})
    )
    assert "expected a whole number" in str(refused(load, flags={"assemble.limit": "1"}))
    assert "(from --limit)" in str(refused(load, flags={"assemble.limit": "1"}))


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[store]\npath = ''", "store.path", "a folder"),
        ("[store]\npath = 3", "store.path", "a folder"),
        ('[store]\npath = "a\\u0000b"', "store.path", "a folder"),
        ("[store]\nurl = 3", "store.url", "the address of a Qdrant server"),
        ("[store]\nlock_timeout = -1", "store.lock_timeout", "a number of seconds over 0"),
    ],
)
def test_a_wrong_value_of_the_user(
    load: Load, home: Path, text: str, key: str, expected: str
) -> None:
    """The user's own file is checked likewise."""
    error = refused(load, user=text)
    assert str(error).startswith(f"{home / 'config.toml'}:2: {key}: expected {expected}, got ")
