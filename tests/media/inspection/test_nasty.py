"""Every nasty file is refused, and the refusal says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import inspect
from tests.media.nasty_files import NASTY


@pytest.mark.parametrize(("build", "says"), [case[1:] for case in NASTY], ids=[case[0] for case in NASTY])
def test_is_refused_by_what_it_is(build: Callable[[], bytes], says: str, written: Callable[[bytes], Path]) -> None:
    with pytest.raises(MediaTypeNotAllowed, match=says):
        inspect(written(build()))


def test_each_has_its_own_name() -> None:
    assert len({case[0] for case in NASTY}) == len(NASTY) > 150
