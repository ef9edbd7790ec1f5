"""The marks of platforms on pages."""

from __future__ import annotations

import re

import pytest

from accounts.platforms.marks import platform_mark
from accounts.platforms.registry import PLATFORMS, get_adapter


def contrast_with_white(colour: str) -> float:
    """Return the contrast ratio of white on a colour, by WCAG 2."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_has_a_small_icon_that_screen_readers_name(name: str) -> None:
    mark = platform_mark(name)

    assert f'aria-label="{get_adapter(name).label}" role="img"' in mark
    assert re.search(r'<path fill="#fff" d="[\w\s.,-]+"></path>', mark)
    assert "style=" not in mark  # the content security policy forbids it
    assert len(mark) < 3000
    assert contrast_with_white(get_adapter(name).colour) >= 3


def test_a_mark_beside_the_name_is_not_read_out() -> None:
    mark = platform_mark("mastodon", beside_label=True)

    assert 'aria-hidden="true"' in mark
    assert "aria-label" not in mark


def test_a_platform_without_an_icon_has_its_letter() -> None:
    assert ">G</text>" in platform_mark("gone")
