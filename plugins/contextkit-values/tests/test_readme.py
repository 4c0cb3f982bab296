"""What the README says is true."""

import re
from pathlib import Path
from typing import Any

import contextkit_experiences
import contextkit_values
from contextkit.testing import open_kit
from contextkit_values.clustering import MIN_CLUSTER_SIZE, MIN_SIMILARITY

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs(tmp_path: Path) -> None:
    """It refreshes, and says what it did."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    plugins = {"experiences": contextkit_experiences, "values": contextkit_values}
    with open_kit(tmp_path, plugins) as kit:
        names: dict[str, Any] = {"kit": kit}

        exec(code, names)  # noqa: S102

    assert names["report"].added == 0
    assert len(names["report"].notes) == 4


def test_the_settings_are_the_defaults() -> None:
    """The example configuration is valid and changes nothing."""
    found = dict(re.findall(r"^(\w+) = ([\d.]+)", README, re.MULTILINE))

    assert {name: float(value) for name, value in found.items()} == {
        "max_values": contextkit_values.contextkit_source().setting_defaults["max_values"],
        "min_cluster_size": MIN_CLUSTER_SIZE,
        "min_similarity": MIN_SIMILARITY,
    }
