"""Grapheme clusters and composition (NFC) in linear time: the `regex` and `unicodedata` modules are quadratic at both."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import regex

# `\X` counts the regional indicators in a row before it at each of them. A flag with another one behind it needs no count.
CLUSTER = r"(?:\p{RI}\p{RI}(?=\p{RI})|\X)"
_CLUSTERS = regex.compile(CLUSTER)
_MANY_MARKS = regex.compile(r"\p{M}{32,}")


def clusters(text: str) -> list[str]:
    """The extended grapheme clusters of the text (UAX #29)."""
    found: list[str] = _CLUSTERS.findall(text)
    return found


def composed(text: str) -> str:
    """The text in Normalization Form C."""
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(lambda marks: _in_order(marks[0]), text))


def _in_order(marks: str) -> str:
    """Combining marks, decomposed and in canonical order; `unicodedata` gets there by insertion sort."""
    decomposed = "".join(unicodedata.normalize("NFD", mark) for mark in marks)
    runs = groupby(decomposed, key=lambda mark: unicodedata.combining(mark) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combining else run) for combining, run in runs)
