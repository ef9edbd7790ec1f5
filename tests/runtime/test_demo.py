"""demo.json: its key, token and sign-in link work."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management.base import OutputWrapper
from django.test import Client

from config.runtime.demo import create_or_find_demo_workspace_or_none, print_welcome
from tests.conftest import ApiClient

BASE_URL = "http://127.0.0.1:8000"
ISSUER = "https://login.example.com"


@pytest.fixture
def folder(db: None, settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def written(folder: Path) -> dict[str, str]:
    """Create or refresh demo.json; return its content."""
    assert create_or_find_demo_workspace_or_none(base_url=BASE_URL)
    return dict(json.loads((folder / "demo.json").read_text()))


def test_without_an_identity_provider_the_token_and_the_link_work(folder: Path) -> None:
    demo = written(folder)

    assert ApiClient(demo["user_token"]).get(f"/users/{demo['owner_user_id']}/export").status_code == 200
    assert ApiClient(demo["api_key"]).get("/capabilities").status_code == 200
    assert Client().get(urlsplit(demo["sign_in_url"]).path)["Location"] == "/dashboard/"
    assert "note" not in demo


def test_with_an_identity_provider_the_file_explains_what_is_missing(folder: Path, settings: Any) -> None:
    settings.OIDC_ISSUER = ISSUER
    demo = written(folder)

    assert "user_token" not in demo
    assert "sign_in_url" not in demo
    assert demo["note"].startswith("OIDC_ISSUER is set: people sign in at the identity provider")
    assert ApiClient(demo["api_key"]).get("/capabilities").status_code == 200


def test_an_identity_provider_that_is_set_later_removes_token_and_link(folder: Path, settings: Any) -> None:
    first = written(folder)
    settings.OIDC_ISSUER = ISSUER
    second = written(folder)

    assert second["api_key"] == first["api_key"]
    assert "user_token" not in second
    assert "sign_in_url" not in second


@pytest.mark.parametrize("issuer", ["", ISSUER])
def test_the_welcome_text_shows_only_links_that_work(folder: Path, settings: Any, issuer: str) -> None:
    settings.OIDC_ISSUER = issuer
    shown = io.StringIO()
    print_welcome(
        OutputWrapper(shown), create_or_find_demo_workspace_or_none(base_url=BASE_URL), base_url=BASE_URL, data_dir=folder
    )

    assert "None" not in shown.getvalue()
    assert ("(signs you in, once)" in shown.getvalue()) is (not issuer)
    assert ("OIDC_ISSUER is set" in shown.getvalue()) is bool(issuer)
