"""The page's colours: readable in both themes, and apart for people who see fewer of them."""

import itertools
import math
import re
from importlib import resources

import pytest

from contextkit_ui.view import HUES

CSS = (resources.files("contextkit_ui") / "static" / "page.css").read_text(encoding="utf-8")
TOKENS = {
    name: colours
    for name, *colours in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
}
SOURCES = [f"hue-{number}" for number in range(HUES)]
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        *((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216)),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        *((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413)),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        *((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602)),
        (0.004733, 0.691367, 0.303900),
    ),
}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]


def linear(colour: str) -> Triple:
    """A colour in linear RGB."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return red, green, blue


def through(matrix: tuple[Triple, ...], colour: Triple) -> list[float]:
    """A colour times a matrix."""
    return [sum(a * b for a, b in zip(row, colour, strict=True)) for row in matrix]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 has it, 1..21."""
    dark, light = sorted(through(XYZ, linear(colour))[1] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def seen(colour: str, sight: tuple[Triple, ...]) -> Triple:
    """A colour as somebody sees it, in CIELAB."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in through(sight, linear(colour)))
    values = (v / w for v, w in zip(through(XYZ, (red, green, blue)), WHITE, strict=True))
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in values)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@THEMES
@pytest.mark.parametrize("behind", ["page", "panel", "sunk", "warn-page"])
@pytest.mark.parametrize("name", ["text", "soft", "accent", "good", "warn", "bad"])
def test_text_is_readable(theme: int, behind: str, name: str) -> None:
    """Every colour of text has WCAG AA's 4.5 on every colour behind it."""
    assert contrast(TOKENS[name][theme], TOKENS[behind][theme]) >= 4.5


@THEMES
def test_the_button_is_readable(theme: int) -> None:
    """So has the text on the accent."""
    assert contrast(TOKENS["on-accent"][theme], TOKENS["accent"][theme]) >= 4.5


@THEMES
@pytest.mark.parametrize("behind", ["page", "panel", "track"])
@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_visible(theme: int, behind: str, name: str) -> None:
    """What is drawn in a source's colour has AA's 3 for graphics on what is behind it."""
    assert contrast(TOKENS[name][theme], TOKENS[behind][theme]) >= 3


@THEMES
def test_edges_are_visible(theme: int) -> None:
    """So have the edges of what can be operated."""
    assert min(contrast(TOKENS["edge"][theme], TOKENS[b][theme]) for b in ("page", "panel")) >= 3


@THEMES
@pytest.mark.parametrize("sight", SIGHT)
def test_sources_differ_for_everybody(theme: int, sight: str) -> None:
    """No two sources' colours are nearer than 10 in CIELAB, where 2.3 can just be told apart."""
    colours = [seen(TOKENS[name][theme], SIGHT[sight]) for name in SOURCES]

    assert min(math.dist(*pair) for pair in itertools.combinations(colours, 2)) >= 10
