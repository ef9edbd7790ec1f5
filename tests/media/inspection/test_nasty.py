"""Every malicious or broken file is refused with a message that states the problem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import bounds, inspect_file
from tests.media.nasty_files import NASTY


@pytest.mark.parametrize(("build", "says"), [case[1:] for case in NASTY], ids=[case[0] for case in NASTY])
def test_a_malicious_or_broken_file_is_refused_with_the_reason(
    build: Callable[[], bytes], says: str, written: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_INSPECTION_SECONDS", 60.0)  # a slow machine must not refuse for the time it takes
    with pytest.raises(MediaTypeNotAllowed, match=says):
        inspect_file(written(build()))


def test_a_file_that_takes_too_long_is_refused(written: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_INSPECTION_SECONDS", 0.0)
    build = next(build for name, build, _ in NASTY if name == "webm_flood")
    with pytest.raises(MediaTypeNotAllowed, match="takes too long to read"):
        inspect_file(written(build()))


def test_every_malicious_file_has_a_unique_name() -> None:
    assert len({case[0] for case in NASTY}) == len(NASTY) > 150
