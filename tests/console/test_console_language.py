"""The console is in the operator's language; what it stores is in English."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.console.console_rows import make_group
from tests.console.operators import console_audit_entries
from tests.people import console
from workspaces.models import User, Workspace

WORKSPACES = "/admin/workspaces/workspace/"


@pytest.fixture
def german(db: None) -> Client:
    """Return the browser of an operator who has chosen German."""
    browser = console()
    User.objects.filter(username="operator").update(language="de")
    return browser


def read(browser: Client, path: str, **query: str) -> str:
    """Return a page's text, which must be marked as German though the browser asks for Spanish."""
    page = browser.get(path, query, headers={"Accept-Language": "es"})
    html = page.content.decode()
    assert page["Content-Language"] == "de"
    assert '<html lang="de"' in html
    return html


def test_pages_are_in_the_language_of_the_operator(german: Client, workspace: Workspace) -> None:
    front = read(german, "/admin/")
    for text in (
        "Konsole der Betreiber",
        "Zustand des Dienstes",
        "Webhook-Zustellungen",
        "noch kein Lebenszeichen",
        "Abmelden",
    ):
        assert text in front

    workspaces = read(german, WORKSPACES)
    for text in ("Angehalten von", ">Anhalten</option>", "Findet wrk_…", "Wörter aus name, slug", "Seite 1"):
        assert text.lower() in workspaces.lower()

    assert "Kein Beitrag ist verspätet." in read(german, reverse("admin:late-posts"))
    assert "Nichts gefunden zu „Roggen“." in read(german, reverse("admin:find"), q="Roggen")
    assert "Aufstellung von" in read(german, reverse("admin:statement", args=[workspace.pk]))
    assert "dauerhaft, ohne Namen von Personen" in read(german, reverse("admin:run-retention"))


def test_an_action_asks_and_reports_in_the_language_of_the_operator(german: Client, workspace: Workspace) -> None:
    chosen = {"action": "pause", "_selected_action": workspace.pk}
    asked = german.post(WORKSPACES, {**chosen, "index": "0"}).content.decode()
    assert "Betrifft 1 workspace:" in asked
    assert "veröffentlichen keine geplanten Beiträge" in asked

    done = german.post(WORKSPACES, {**chosen, "confirmed": "yes"}, follow=True)
    assert [str(message) for message in done.context["messages"]] == [f"Angehalten: {workspace.pk}."]
    assert console_audit_entries() == [("ops.pause_workspace", workspace.pk, workspace.pk, None)]


def test_a_refusal_is_shown_in_the_language_of_the_operator(german: Client, workspace: Workspace) -> None:
    fields = {"kind": "credit", "cents": "5", "reason": "An outage"}
    shown = german.post(reverse("admin:statement", args=[workspace.pk]), fields).content.decode()

    assert "Die Gutschrift übersteigt, was in diesem Monat ausgegeben wurde." in shown
    assert "Schreiben Sie höchstens so viel gut, oder in einem anderen Monat." in shown


def test_a_refused_action_says_why_in_the_language_of_the_operator(german: Client, workspace: Workspace) -> None:
    group = make_group(workspace, factories.AccountFactory.create(workspace=workspace), status="published")
    asked = {"action": "retry", "_selected_action": group.pk, "confirmed": "yes"}
    done = german.post(reverse("admin:posts_postgroup_changelist"), asked, follow=True)

    why = "Es gibt nichts erneut zu senden: Kein Konto ist fehlgeschlagen, oder es wird schon gesendet."
    assert [str(message) for message in done.context["messages"]] == [f"{group.pk}: {why}"]
    assert console_audit_entries() == [("posts.retry", "", "", "INVALID_STATE")]


@pytest.mark.parametrize(
    ("accepted", "language", "heading"), [("es,en;q=0.5", "es", "Iniciar sesión"), ("fr", "en", "Sign in")]
)
def test_without_a_choice_pages_are_in_the_language_of_the_browser(
    db: None, accepted: str, language: str, heading: str
) -> None:
    accepting = {"Accept-Language": accepted}
    sign_in, front = (
        browser.get(path, headers=accepting) for browser, path in ((Client(), "/admin/login/"), (console(), "/admin/"))
    )

    assert (sign_in["Content-Language"], front["Content-Language"]) == (language, language)
    assert heading in sign_in.content.decode()
    assert ("Consola de operadores" in front.content.decode()) == (language == "es")


def test_times_have_seconds_and_zone_as_in_english(german: Client) -> None:
    assert re.search(r"Stand: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", read(german, reverse("admin:late-posts")))


def test_a_missing_page_is_explained_in_the_language_of_the_operator(german: Client) -> None:
    missing = german.get(reverse("admin:trace", args=["anything"]))
    html = missing.content.decode()

    assert missing.status_code == 404
    assert "Seite nicht gefunden." in html
    assert f'href="{reverse("admin:index")}">Zur Konsole der Betreiber</a>' in html
    assert "Mitglied" not in html
