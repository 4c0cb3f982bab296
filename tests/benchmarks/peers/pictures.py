"""Line charts as SVG, in colours that can be read on white and on black."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

__all__ = ["line_chart"]

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 590, 44, 352
_GREY = "#808890"
_COLOURS = ("#e5484d", "#808890", "#3e8ed0", "#8e6fd8", "#3a9d5d", "#b8860b", "#c2588f")
_LABEL_HEIGHT = 15.0
_SHARES = [20.0 * step for step in range(6)]


def line_chart(
    title: str, across: str, lines: Mapping[str, Mapping[float, float]], *, percent: bool = False
) -> str:
    """Draw a line for each name, with the name at its end.

    Args:
        title: what is drawn upwards, with its unit.
        across: what is drawn to the right, by factors.
        lines: name -> its points; those of the first one are drawn thick.
        percent: whether what is drawn upwards are shares, and not drawn by factors.
    """
    columns = sorted({x for points in lines.values() for x in points})
    heights = [y for points in lines.values() for y in points.values()]
    rows = _SHARES if percent else _round_values(min(heights), max(heights))
    shapes = [_text(_LEFT, 22, title, size=15), _text(_RIGHT, _BOTTOM + 36, across, "end")]
    for value in columns:
        x = _x(value, columns)
        shapes += [
            _line([(x, _TOP), (x, _BOTTOM)]),
            _text(x, _BOTTOM + 18, f"{value:,g}", "middle"),
        ]
    for value in rows:
        y = _y(value, rows, percent)
        shapes += [_line([(_LEFT, y), (_RIGHT, y)]), _text(_LEFT - 8, y + 4, f"{value:,g}", "end")]
    ends: dict[str, tuple[float, str]] = {}
    for (name, points), colour in zip(lines.items(), _COLOURS, strict=False):
        places = [(_x(x, columns), _y(y, rows, percent)) for x, y in sorted(points.items())]
        shapes.append(_line(places, colour, 3.5 if colour == _COLOURS[0] else 1.8))
        (x, y), whole = places[-1], places[-1][0] == _RIGHT
        if whole:
            ends[name] = (y, colour)
        else:
            anchor = "start" if x == _LEFT else "end"
            shapes.append(_text(x, y - 6, name, anchor, colour))
    for name, y in _apart({name: y for name, (y, _) in ends.items()}):
        shapes.append(_text(_RIGHT + 10, y + 4, name, colour=ends[name][1]))
    return "\n".join([_head(title), *shapes, "</svg>\n"])


def _round_values(low: float, high: float) -> list[float]:
    """Powers of ten, their doubles and fivefolds, from below the lowest to above the highest."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 2)
    every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    first = max(value for value in every if value <= low)
    last = min(value for value in every if value > high)
    return [value for value in every if first <= value <= last]


def _x(value: float, columns: Sequence[float]) -> float:
    span = math.log(columns[-1] / columns[0]) or 1.0
    return _LEFT + (_RIGHT - _LEFT) * math.log(value / columns[0]) / span


def _y(value: float, rows: Sequence[float], percent: bool) -> float:
    share = value / rows[-1] if percent else math.log(value / rows[0], rows[-1] / rows[0])
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _apart(labels: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Labels from the top down, none over another; the lowest stays above the edge."""
    above = -_LABEL_HEIGHT
    room = len(labels)
    for name in sorted(labels, key=labels.__getitem__):
        y = max(labels[name], above + _LABEL_HEIGHT)
        above = min(y, _HEIGHT - _LABEL_HEIGHT * room)
        room -= 1
        yield name, above


def _head(title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(title)}" font-family="sans-serif" font-size="12">'
    )


def _line(places: Sequence[tuple[float, float]], colour: str = _GREY, width: float = 0.3) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "start", colour: str = _GREY, size: int = 12
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
        f' font-size="{size}">{escape(text)}</text>'
    )
