"""Pictures in SVG whose colours are the page's, so that they follow light, dark and print."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from rackwright.capacity.report.scale import Scale, apart, spell, ticks

WIDTH, HEIGHT = 560, 300
BAR_WIDTH = 1080  # a bar has a row of its own
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 26, 44
LINE_HEIGHT = 15.0
Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One curve and, where its figures are a range, the band around it."""

    name: str
    tone: int
    points: Sequence[Point]
    band: Sequence[tuple[float, float, float]] = ()  # x, least, most


@dataclass(frozen=True)
class Plot:
    """Curves over one axis, with marks: `limits` stand upright, `targets` lie across, `now` is a point."""

    title: str
    across: str
    upward: str
    lines: Sequence[Line]
    limits: Sequence[tuple[float, str]] = ()
    targets: Sequence[tuple[float, str]] = ()
    now: Point | None = None
    highest: float | None = None
    farthest: float | None = None


@dataclass
class _Frame:
    """The plot's area, its scales and what has been drawn."""

    x: Scale
    y: Scale
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        self.parts.append(_words(x, y, words, kind, anchor))

    def rule(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')


def _words(x: float, y: float, words: str, kind: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def plot(wanted: Plot) -> str:
    """A plot of curves."""
    frame = _frame(wanted)
    for line in wanted.lines:
        frame.parts += _band(frame, line)
    for value, name in wanted.targets:
        _across(frame, value, name)
    _upright(frame, wanted.limits)
    for line in wanted.lines:
        inside = [(x, y) for x, y in line.points if y <= frame.y.high]
        places = " ".join(f"{frame.x.at(x):.1f},{frame.y.at(y):.1f}" for x, y in inside)
        frame.parts.append(f'<polyline points="{places}" class="curve tone{line.tone}"/>')
    if wanted.now is not None:
        x, y = frame.x.at(wanted.now[0]), frame.y.at(wanted.now[1])
        frame.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="now"/>')
    return _svg(wanted.title, frame.parts, HEIGHT) + legend([(line.name, line.tone) for line in wanted.lines])


def _frame(wanted: Plot) -> _Frame:
    high = wanted.highest or max((y for line in wanted.lines for _, y in line.points), default=1.0)
    far = wanted.farthest or max((x for line in wanted.lines for x, _ in line.points), default=1.0)
    upward, across = ticks(high), ticks(far, 7)
    frame = _Frame(Scale(0, across[-1], LEFT, WIDTH - RIGHT), Scale(0, upward[-1], HEIGHT - BOTTOM, TOP))
    for value in upward:
        y = frame.y.at(value)
        frame.rule(LEFT, y, WIDTH - RIGHT, y, "grid")
        frame.text(LEFT - 8, y + 4, spell(value), "tick", "end")
    for value in across:
        frame.text(frame.x.at(value), HEIGHT - BOTTOM + 18, spell(value), "tick", "middle")
    frame.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, wanted.across, "axis", "middle")
    frame.text(LEFT, TOP - 12, wanted.upward, "axis")
    return frame


def _band(frame: _Frame, line: Line) -> list[str]:
    if not line.band:
        return []
    above = [f"{frame.x.at(x):.1f},{frame.y.at(most):.1f}" for x, _, most in line.band]
    below = [f"{frame.x.at(x):.1f},{frame.y.at(least):.1f}" for x, least, _ in reversed(line.band)]
    return [f'<polygon points="{" ".join([*above, *below])}" class="band tone{line.tone}"/>']


def _across(frame: _Frame, value: float, name: str) -> None:
    y = frame.y.at(value)
    frame.rule(LEFT, y, WIDTH - RIGHT, y, "target")
    frame.text(LEFT + 6, y - 5, name, "note")


def _upright(frame: _Frame, limits: Sequence[tuple[float, str]]) -> None:
    """Upright marks, each with its words on a line of its own and on the side that has room."""
    for index, (value, name) in enumerate(limits):
        x = frame.x.at(value)
        frame.rule(x, TOP, x, HEIGHT - BOTTOM, "limit" if index == 0 else "load")
        is_right = x > (LEFT + WIDTH - RIGHT) / 2
        place = HEIGHT - BOTTOM - 8 - index * LINE_HEIGHT
        frame.text(x + (-6 if is_right else 6), place, name, "note", "end" if is_right else "start")


def bar(title: str, total: float, unit: str, parts: Sequence[tuple[str, float, int]]) -> str:
    """One bar of parts that sum to a total; a part of tone 0 is left free."""
    height, top, tall = 74, 8, 34
    scale = Scale(0, total, 0, BAR_WIDTH)
    drawn, begins = [], 0.0
    for name, value, tone in parts:
        x, wide = scale.at(begins), scale.at(begins + value) - scale.at(begins)
        drawn.append(
            f'<rect x="{x:.1f}" y="{top}" width="{max(wide - 1, 0.5):.1f}" height="{tall}" class="part tone{tone}">'
            f"<title>{escape(name)}: {value:.2f} {escape(unit)}</title></rect>"
        )
        if wide > 40:
            kind, middle = "onpart" if tone else "onfree", x + wide / 2
            drawn.append(_words(middle, top + tall / 2 + 5, f"{value:.1f}", kind, "middle"))
        begins += value
    for value in (tick for tick in ticks(total, 8) if tick <= total):
        anchor = "start" if value == 0 else "middle" if value < total * 0.97 else "end"
        drawn.append(_words(scale.at(value), top + tall + 18, spell(value), "tick", anchor))
    return _svg(title, drawn, height, BAR_WIDTH) + legend(
        [(f"{name} {value:.1f}", tone) for name, value, tone in parts]
    )


def scatter(title: str, across: str, upward: str, points: Sequence[tuple[float, float, str, bool]]) -> str:
    """Points with their names; those of the last mark set stand out and are joined."""
    most_x, most_y = max(x for x, *_ in points), max(y for _, y, *_ in points)
    wanted = Plot(title, across, upward, [], highest=most_y * 1.1, farthest=most_x * 1.5)
    frame = _frame(wanted)
    best = sorted((x, y) for x, y, _, stands_out in points if stands_out)
    places = " ".join(f"{frame.x.at(x):.1f},{frame.y.at(y):.1f}" for x, y in best)
    frame.parts.append(f'<polyline points="{places}" class="curve faint tone1"/>')
    heights = _heights(frame, points)
    for index, (x, y, name, stands_out) in enumerate(points):
        kind = "tone1" if stands_out else "other"
        at_x, at_y = frame.x.at(x), frame.y.at(y)
        frame.parts.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="5" class="point {kind}"/>')
        frame.text(at_x + 9, heights[index], name, "note")
    return _svg(title, frame.parts, HEIGHT)


def _heights(frame: _Frame, points: Sequence[tuple[float, float, str, bool]]) -> dict[int, float]:
    """Where names are written: beside their points, and none over another of the same column."""
    found: dict[int, float] = {}
    for column in {x for x, *_ in points}:
        members = [index for index, (x, *_) in enumerate(points) if x == column]
        places = apart([frame.y.at(points[index][1]) + 4 for index in members], LINE_HEIGHT - 2)
        found |= dict(zip(members, places, strict=True))
    return found


def columns(title: str, across: str, upward: str, values: Sequence[tuple[str, float]]) -> str:
    """One column a value, its figure above it."""
    wanted = Plot(title, "", upward, [], highest=max(value for _, value in values) * 1.1, farthest=1)
    frame = _frame(wanted)
    frame.parts = [part for part in frame.parts if 'text-anchor="middle"' not in part]
    room = (WIDTH - RIGHT - LEFT) / len(values)
    for index, (name, value) in enumerate(values):
        x, y = LEFT + index * room + room * 0.22, frame.y.at(value)
        wide, tall = room * 0.56, HEIGHT - BOTTOM - y
        frame.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{max(tall, 0):.1f}" class="part tone1"/>'
        )
        frame.text(x + wide / 2, y - 5, spell(round(value, 1)), "note", "middle")
        frame.text(x + wide / 2, HEIGHT - BOTTOM + 18, name, "tick", "middle")
    frame.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, across, "axis", "middle")
    return _svg(title, frame.parts, HEIGHT)


def legend(names: Iterable[tuple[str, int]]) -> str:
    """What each tone means."""
    items = "".join(f'<li><span class="swatch tone{tone}"></span>{escape(name)}</li>' for name, tone in names)
    return f'<ul class="legend">{items}</ul>' if items else ""


def _svg(title: str, parts: Iterable[str], height: int, width: int = WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
