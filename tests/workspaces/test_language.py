"""Pages are in the language of the person or of the browser; the API is in English."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.test import Client
from django.urls import reverse
from django.utils import translation

from tests.conftest import ApiClient
from workspaces.models import User, Workspace

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
PAGE = "/dashboard/language"


@pytest.fixture
def browser(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.mark.parametrize(
    ("accepted", "language", "heading"),
    [("", "en", "Sign in"), ("fr", "en", "Sign in"), ("de-AT,en;q=0.5", "de", "Anmelden"), ("es", "es", "Iniciar sesión")],
)
def test_a_page_is_in_the_language_of_the_browser(db: None, accepted: str, language: str, heading: str) -> None:
    page = Client().get("/dashboard/sign-in", headers={"Accept-Language": accepted})

    assert f"<h1>{heading}</h1>" in page.content.decode()
    assert f'<html lang="{language}" dir="ltr">' in page.content.decode()
    assert page["Content-Language"] == language
    assert "Accept-Language" in page["Vary"]


def test_the_choice_of_a_person_is_kept_and_wins_over_the_browser(browser: Client, owner: User) -> None:
    saved = browser.post(PAGE, {"language": "es"}, headers=GERMAN, follow=True)
    assert '<html lang="es"' in saved.content.decode()
    assert "<p>El idioma se ha guardado.</p>" in saved.content.decode()

    as_browser_says = browser.post(PAGE, {"language": ""}, headers=GERMAN, follow=True)
    assert '<html lang="de"' in as_browser_says.content.decode()
    owner.refresh_from_db()
    assert owner.language == ""


def test_an_unknown_language_is_refused(browser: Client, owner: User) -> None:
    refused = browser.post(PAGE, {"language": "xx"})

    assert refused.status_code == 422
    owner.refresh_from_db()
    assert owner.language == ""


def test_the_api_answers_in_english(api: ApiClient, workspace: Workspace) -> None:
    for body in ({}, {"text": 5, "targets": "x"}):
        german = api.post("/posts", body, **GERMAN).json()
        english = api.post("/posts", body).json()
        assert {**german, "trace_id": ""} == {**english, "trace_id": ""}


@pytest.mark.parametrize("path", ["/nowhere", "/openapi.json", "/healthz", "/dashboardx", "/administration"])
def test_what_is_no_page_for_people_is_in_english(db: None, path: str) -> None:
    answer = Client().get(path, headers=GERMAN)

    assert "Content-Language" not in answer.headers
    assert "Seite" not in answer.content.decode()


def test_the_service_worker_differs_by_language_so_that_the_offline_page_is_kept_anew(db: None) -> None:
    english, german = (Client().get(reverse("service-worker"), headers=accepted) for accepted in ({}, GERMAN))

    assert (english.status_code, german.status_code) == (200, 200)
    assert english.content != german.content
    assert "Content-Language" not in german.headers


def test_no_language_stays_active_after_a_page(browser: Client) -> None:
    browser.get("/dashboard/", headers=GERMAN)

    assert translation.get_language() == "en"
    with pytest.raises(ValidationError, match="Enter a valid email address"):
        validate_email("x")
