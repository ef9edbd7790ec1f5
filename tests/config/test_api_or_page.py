"""API requests skip what only pages need; pages keep all of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.conftest import ApiClient
from tests.workspaces.browsers import new_browser
from workspaces.models import User


@pytest.fixture
def signed_in(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


def test_an_api_request_ignores_the_cookies_of_a_session(
    signed_in: Client, api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Session.objects.update(session_data="not readable")
    with django_assert_num_queries(0):
        refused = signed_in.get("/posts/search")
    assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHENTICATED")
    assert "Vary" not in refused.headers


def test_a_page_knows_the_session(signed_in: Client) -> None:
    shown = signed_in.get("/dashboard/")
    assert (shown.status_code, shown["Vary"]) == (200, "Accept-Language, Cookie, Accept-Encoding")


@pytest.mark.parametrize("path", ["/dashboard/sign-in/begin", "/dashboard/workspaces/wrk_x/posts", "/admin/login/"])
def test_a_form_of_a_page_needs_a_csrf_token(db: None, path: str) -> None:
    assert new_browser().post(path).status_code == 403


@pytest.mark.parametrize("path", ["/posts", "/posts/nowhere/at/all", "/nowhere", "/dashboard/sign-in", "//posts"])
def test_every_answer_forbids_frames_and_unknown_hosts(db: None, path: str) -> None:
    http: Any = Client()
    assert http.get(path)["X-Frame-Options"] == "DENY"
    refused = http.get(path, headers={"host": "elsewhere.example"})
    assert (refused.status_code, refused.json()["code"]) == (400, "MALFORMED_REQUEST")


def test_static_files_are_served(db: None) -> None:
    assert Client().get("/static/none.js").status_code == 404
