"""Unicode text: grapheme clusters and composition (NFC) in linear time, where `regex` and `unicodedata` are quadratic."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import regex

# For each regional indicator, `\X` counts those before it. A flag that is followed by another one needs no count.
CLUSTER = r"(?:\p{RI}\p{RI}(?=\p{RI})|\X)"
_CLUSTERS = regex.compile(CLUSTER)
_MANY_MARKS = regex.compile(r"\p{M}{32,}")


def clusters(text: str) -> list[str]:
    """The extended grapheme clusters of a text (Unicode UAX #29)."""
    found: list[str] = _CLUSTERS.findall(text)
    return found


def composed(text: str) -> str:
    """A text in Unicode's Normalization Form C."""
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(lambda marks: _in_order(marks[0]), text))


def _in_order(marks: str) -> str:
    """Unicode combining marks, decomposed and in canonical order; `unicodedata` sorts them by insertion sort."""
    decomposed = "".join(unicodedata.normalize("NFD", mark) for mark in marks)
    runs = groupby(decomposed, key=lambda mark: unicodedata.combining(mark) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combining else run) for combining, run in runs)
