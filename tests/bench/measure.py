"""The rows of the benchmark's table: measurement, reference and goal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """A row of the table: `ours` and `reference` are texts; `value`, a ratio where possible, is compared with the goal."""

    measurement: str
    ours: str
    reference: str
    value: float
    goal: str
    met: bool

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def at_most(measurement: str, ours: str, value: float, most: float, *, reference: str = "–") -> Row:
    """Return a row whose value must not be above `most`."""
    return Row(measurement, ours, reference, round(value, 3), f"≤ {most:g}", value <= most)


def at_least(measurement: str, ours: str, value: float, least: float, *, reference: str = "–") -> Row:
    """Return a row whose value must not be below `least`."""
    return Row(measurement, ours, reference, round(value, 3), f"≥ {least:g}", value >= least)


def table(rows: Iterable[Row]) -> str:
    """Format the rows in columns."""
    heads = ("measurement", "ours", "reference", "value", "goal", "verdict")
    lines = [
        (row.measurement, row.ours, row.reference, f"{row.value:g}", row.goal, "met" if row.met else "MISSED") for row in rows
    ]
    widths = [max(len(line[column]) for line in [heads, *lines]) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [heads, *lines]
    )


Measurement = Callable[[], list[Row]]
