"""All regular expressions run in linear time on hostile input."""

from __future__ import annotations

import importlib
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import regex

from tests.architecture.sources import ROOT, python_files
from tests.hostile.texts import SHAPES, hostile_text

LENGTH = 15_000
CPU_SECONDS = 0.375  # for one text; a few milliseconds are usual, and a quadratic pattern takes longer at this length
USES = re.compile(r"\b([A-Z_]+)\.(match|fullmatch|search|finditer|findall|sub|subn|split)\(")
MORE = ["Bearer ", "sps_key_", "bytes= ", "12-", "%", "A.", "0f", "\t", "<!--", "/S ", "/a#", "1 ", "=", "did:a:"]
TEXTS = [hostile_text(shape, LENGTH) for shape in SHAPES] + [piece * (LENGTH // len(piece)) for piece in MORE]


def uses() -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Return each module's pattern constants with the methods that the module calls on them."""
    for path in python_files():
        if path.parts[0] != "tests":
            for use in sorted(set(USES.findall((ROOT / path).read_text()))):
                yield f"{path}: {use[0]}.{use[1]}", (str(path), *use)


def patterns() -> dict[str, Callable[[str], None]]:
    """Return functions that apply each pattern to a text as its module does."""
    found = {}
    for name, (path, constant, method) in uses():
        module = importlib.import_module(".".join(Path(path).with_suffix("").parts).removesuffix(".__init__"))
        pattern = getattr(module, constant, None)
        if isinstance(pattern, re.Pattern | type(regex.compile(""))):
            found[name] = _applied(pattern, method)
    return found


def _applied(pattern: Any, method: str) -> Callable[[str], None]:
    def apply(text: str) -> None:
        value = text.encode() if isinstance(pattern.pattern, bytes) else text
        result = getattr(pattern, method)(*((value[:0], value) if method in ("sub", "subn") else (value,)))
        if method == "finditer":
            list(result)

    return apply


@contextmanager
def cpu_time_of(seconds: float, name: str) -> Iterator[None]:
    def fail(*_: object) -> None:
        pytest.fail(f"{name} is not linear")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


PATTERNS = patterns()


def test_the_patterns_are_found() -> None:
    assert len(PATTERNS) > 80


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_linear_time(name: str) -> None:
    for text in TEXTS:
        with cpu_time_of(CPU_SECONDS, f"{name} with {text[:20]!r}"):
            PATTERNS[name](text)
