"""What the README says is true."""

import re
import tomllib
from pathlib import Path

import contextkit_embedders.openai_model as openai
from contextkit.config.sections import SourceSettings
from contextkit_embedders.endpoint import FOR_QUERY, FOR_RECORDS
from contextkit_embedders.model_strings import (
    KINDS,
    MOST_CHARACTERS,
    POOLINGS,
    ModelString,
    read_model_string,
)

FOLDER = Path(__file__).parent.parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_model_string_is_one() -> None:
    """Each of the settings in the examples is read, and there is one of each kind."""
    found: list[ModelString | None] = []
    for text in re.findall(r"```toml\n(.*?)```", README, re.DOTALL):
        settings = tomllib.loads(text)
        found.append(read_model_string(settings["embedding"]["model"]))
        for source in settings.get("sources", {}).values():
            assert set(source) <= {field.name for field in SourceSettings.__attrs_attrs__}
            found.append(read_model_string(source["embedder"]))

    assert {each.kind for each in found if each} == {"fastembed", "openai"}
    assert None not in found
    assert [each.prefixes.record for each in found if each][-1] == "passage: "
    assert all(f"`{kind}:" in README for kind in KINDS)


def test_the_extras_are_those_of_the_distribution() -> None:
    """Each kind has one of its own name."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert set(project["optional-dependencies"]) == set(KINDS)


def test_the_figures_are_those_of_the_code() -> None:
    """Sizes, tries and waits."""
    text = " ".join(README.split())
    pooling = [f"`{each}`" for each in POOLINGS]

    assert f"{', '.join(pooling[:-1])}, or {pooling[-1]}" in text
    assert f"first {MOST_CHARACTERS:,} characters" in text
    assert f"Records go out {openai._BATCH} at a time" in text
    assert (FOR_RECORDS.tries, FOR_RECORDS.longest_wait, FOR_QUERY.tries) == (5, 30.0, 2)
    assert "five times, after 0.5, 1, 2 and 4 seconds or as `Retry-After` says, up to 30" in text
    assert f"down to {openai._LEAST_CHARACTERS} characters" in text
