"""docs/platforms.md is what the adapters declare."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from accounts.platforms.registry import PLATFORMS, platform

PAGE = Path(settings.BASE_DIR) / "docs/platforms.md"


def test_the_page_is_as_the_adapters_make_it() -> None:
    printed = StringIO()
    call_command("platforms_page", stdout=printed)

    assert PAGE.read_text() == printed.getvalue(), "Write it again: python manage.py platforms_page > docs/platforms.md"


@pytest.mark.parametrize("name", PLATFORMS)
def test_it_tells_of_each_platform_what_is_not_possible_and_which_settings_there_are(name: str) -> None:
    made, page = platform(name), PAGE.read_text()
    [section] = [each for each in page.split("\n## ") if each.startswith(f"{made.label}\n")]

    assert all(f"\n- {sentence}\n" in section for sentence in made.capabilities.not_possible)
    for application in made.setup.applications:
        told = (application.portal, *application.scopes, *application.settings, *application.more_settings)
        assert all(each in section for each in told)
