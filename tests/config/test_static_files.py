"""Static files in production: hashes in their names, compressed, and cached for ever; and files that are not collected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings
from whitenoise.middleware import WhiteNoiseMiddleware

from config.environment import storages_setting

OTHERS = ["admin", "drf_spectacular_sidecar", "rest_framework", "django_htmx"]


@pytest.fixture
def static_root(settings: Settings, tmp_path: Path) -> Path:
    """An empty STATIC_ROOT, in production."""
    settings.STORAGES = storages_setting("", production=True)
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_USE_FINDERS = True
    return tmp_path


def get(path: str, **headers: str) -> HttpResponse:
    """Request a static file from a WhiteNoise that has just started."""
    serve = WhiteNoiseMiddleware(lambda request: HttpResponse(status=404))
    answer: HttpResponse = serve(RequestFactory().get(path, headers=headers))
    return answer


def test_collected_files_have_hashes_and_are_compressed_and_cached_for_ever(static_root: Path) -> None:
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=OTHERS)

    address = staticfiles_storage.url("site/tokens.css")
    plain, compressed = get(address), get(address, Accept_Encoding="gzip")

    assert re.fullmatch(r"/static/site/tokens\.[0-9a-f]{12}\.css", address)
    assert "immutable" in plain["cache-control"]
    assert compressed["content-encoding"] == "gzip"


def test_files_that_are_not_collected_are_served_from_their_packages(static_root: Path) -> None:
    address = staticfiles_storage.url("site/tokens.css")

    assert address == "/static/site/tokens.css"
    answer = get(address)
    assert (answer.status_code, answer["content-type"]) == (200, 'text/css; charset="utf-8"')
    assert "immutable" not in answer["cache-control"]
