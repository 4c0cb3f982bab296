"""The pictures in README."""

from __future__ import annotations

import re

from tests.pictures import PICTURES, ROOT, terminal


def test_a_terminal_is_drawn_without_a_network() -> None:
    """The drawing has what was printed, and names no address but its own format's."""
    drawn = terminal("a title", [("contextkit stats", "3 contexts\n<b> & more")])

    words = re.sub(r"<[^>]+>", "", drawn).replace("&#160;", " ")
    assert "contextkit stats" in words
    assert "&lt;b&gt; &amp; more" in words
    assert "url(http" not in drawn
    assert "@font-face" not in drawn


def test_readme_shows_small_pictures() -> None:
    """Both are in the repository, shown by README, and load quickly."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in ("home.png", "terminal.svg"):
        file = PICTURES / picture
        assert f"({file.relative_to(ROOT).as_posix()})" in readme
        assert file.stat().st_size < 150_000
