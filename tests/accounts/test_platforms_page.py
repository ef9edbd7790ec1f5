"""docs/platforms.md matches what the adapters declare."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from accounts.platforms.registry import PLATFORMS, get_adapter

PAGE = Path(settings.BASE_DIR) / "docs/platforms.md"


def test_the_committed_page_matches_the_adapters() -> None:
    printed = StringIO()
    call_command("platforms_page", stdout=printed)

    assert PAGE.read_text() == printed.getvalue(), "Write it again: python manage.py platforms_page > docs/platforms.md"


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_page_has_the_limits_and_settings_of_each_platform(name: str) -> None:
    made, page = get_adapter(name), PAGE.read_text()
    [section] = [each for each in page.split("\n## ") if each.startswith(f"{made.label}\n")]

    assert all(f"\n- {sentence}\n" in section for sentence in made.capabilities.not_possible)
    for application in made.setup.applications:
        texts = (application.portal, *application.scopes, *application.settings, *application.more_settings)
        assert all(each in section for each in texts)
