"""Measures the CPU time of counting and validating hostile texts of 100,000 characters."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import django

from tests.bench.measure import Row, at_most
from tests.hostile.texts import SHAPES, hostile_text

MOST_SECONDS = 0.5


def rows() -> list[Row]:
    """Return the CPU time of the most expensive text for each counter."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from accounts.platforms.registry import all_adapters  # noqa: PLC0415  (needs Django)
    from accounts.platforms.text_check import TextCheckCache, length_issues  # noqa: PLC0415

    checked = all_adapters()
    counters = {
        f"{each.name}, {unit}": count
        for each in checked
        for unit, _, count in [
            (each.capabilities.text.counted_as, 0, each.capabilities.text.count),
            *each.capabilities.text.additional_limits,
        ]
    }

    def check(text: str) -> None:
        cached = TextCheckCache()
        for each in checked:
            length_issues(each.name, each.capabilities.text, text, "text", {}, cached)

    return [
        _row(f"checking a hostile text for {len(checked)} platforms", check),
        *(_row(f"counting a hostile text for {name}", count) for name, count in counters.items()),
    ]


def _row(what: str, call: Callable[[str], object]) -> Row:
    seconds, shape = max((_cpu_seconds(call, hostile_text(shape)), shape) for shape in SHAPES)
    return at_most(f"{what}, CPU s ({shape})", f"{seconds:.3f} s", seconds, MOST_SECONDS)


def _cpu_seconds(call: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    call(text)
    return time.thread_time() - began
