"""Figures as aligned lines of text."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns, the first to the left and the others to the right, with a rule under their names."""
    lines = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[index]) for line in ([*head], *lines)) for index in range(len(head))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(cells, widths) for cells in ([*head], rule, *lines))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([first, *others]).rstrip()


def percent(value: float) -> str:
    """A share with one digit after the point."""
    return f"{100 * value:.1f} %"


def number(value: float) -> str:
    """A figure with as many digits as say something."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
