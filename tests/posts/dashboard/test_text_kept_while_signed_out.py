"""A post that somebody sends from the composer after their session has ended: nothing they have written is lost."""

from __future__ import annotations

import secrets
import time
from datetime import timedelta
from ipaddress import IPv4Address
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import ConnectedAccount
from posts.models import ComposerDraft, PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.people import sign_in_here
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words
from tests.posts.rows import create
from workspaces.models import Member, User, Workspace
from workspaces.sign_in.saved_form import KEPT_SECONDS, KEPT_TEXTS_PER_CLIENT

KEPT = "You are signed out. Your text is kept here."
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def dashboard(clock: Any, owner: User, workspace: Workspace) -> Dashboard:
    """The workspace's owner in a browser whose forms need their token, at an address of its own, as texts are counted."""
    made = Dashboard(workspace, owner, csrf=True)
    made.http.defaults["REMOTE_ADDR"] = str(IPv4Address(0x0A000000 + secrets.randbelow(0x1000000)))
    return made


def send_signed_out(dashboard: Dashboard, *accounts: ConnectedAccount, headers: Any = BROWSER, **changed: str) -> Any:
    """Open the composer, let the session end, press "Publish now", and return the page to which the browser is sent."""
    page = dashboard.get("compose")
    form = {name: fields(page, name)[0] for name in ("csrfmiddlewaretoken", "key", "writer")}
    Session.objects.all().delete()
    form |= {"action": "publish", "text": "Typed while signed out", **changed}
    chosen = [account.id for account in accounts]
    return dashboard.http.post(dashboard.address("compose"), {**form, "account": chosen}, headers=headers, follow=True)


def test_a_text_sent_while_signed_out_is_in_the_composer_after_signing_in(
    dashboard: Dashboard, accounts: list[ConnectedAccount], owner: User
) -> None:
    sign_in_page = send_signed_out(dashboard, accounts[0])
    assert KEPT in words(sign_in_page)
    assert fields(sign_in_page, "next")[0] == dashboard.address("compose")
    sign_in_here(dashboard.http, owner)
    composer = dashboard.http.get(dashboard.address("compose"), follow=True)

    assert "nothing was saved or published yet" in words(composer)
    assert typed(composer, "text") == "Typed while signed out"
    assert f'value="{accounts[0].id}" checked' in composer.content.decode()
    assert ComposerDraft.objects.get().key == fields(composer, "key")[0]
    assert not PostGroup.objects.exists()
    assert typed(dashboard.get("compose"), "text") == ""  # it is shown once


def test_another_person_of_the_same_browser_does_not_get_the_text(dashboard: Dashboard, workspace: Workspace) -> None:
    editor = factories.UserFactory()
    Member.objects.create(workspace=workspace, user=editor, role="editor")
    send_signed_out(dashboard)
    sign_in_here(dashboard.http, editor)

    assert typed(dashboard.get("compose"), "text") == ""
    assert not ComposerDraft.objects.exists()


@pytest.mark.parametrize(
    ("headers", "changed"),
    [
        pytest.param(BROWSER, {"csrfmiddlewaretoken": "x" * 64}, id="from another site"),
        pytest.param(BROWSER, {"writer": ""}, id="from no page of ours"),
        pytest.param(BROWSER, {"text": "x" * 100_001}, id="too large for the session"),
        pytest.param(BROWSER, {"text": "x" * 1_000_001}, id="too large to read"),
        pytest.param({"Accept": "application/json"}, {}, id="from the script, which keeps it"),
    ],
)
def test_what_is_not_kept(dashboard: Dashboard, owner: User, headers: Any, changed: dict[str, str]) -> None:
    sign_in_page = send_signed_out(dashboard, headers=headers, **changed)

    assert KEPT not in words(sign_in_page)
    assert sign_in_page.redirect_chain[0][0].startswith("/dashboard/sign-in?next=")
    assert not Session.objects.exists()


def test_a_text_is_kept_for_an_hour(dashboard: Dashboard) -> None:
    send_signed_out(dashboard)

    assert Session.objects.get().expire_date - timezone.now() == timedelta(seconds=KEPT_SECONDS)


def test_a_text_of_more_than_an_hour_ago_is_not_shown_to_who_has_signed_in_since(
    dashboard: Dashboard, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_signed_out(dashboard)
    sign_in_here(dashboard.http, owner)
    later = time.time() + KEPT_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)

    assert typed(dashboard.get("compose"), "text") == ""


def test_changes_of_a_post_and_a_new_text_are_kept_side_by_side(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], owner: User
) -> None:
    group = create(api, accounts[0], text="Before", draft=True)
    address = dashboard.address("post-edit", group)
    page = dashboard.http.get(address)
    names = ("csrfmiddlewaretoken", "key", "writer", "content_version")
    changes = {name: fields(page, name)[0] for name in names} | {"action": "save", "text": "After", "account": accounts[0].id}
    send_signed_out(dashboard, accounts[0])
    dashboard.http.post(address, changes, headers=BROWSER)
    sign_in_here(dashboard.http, owner)

    assert typed(dashboard.http.get(dashboard.address("compose"), follow=True), "text") == "Typed while signed out"
    assert typed(dashboard.http.get(address, follow=True), "text") == "After"


def test_a_text_whose_draft_was_published_in_another_window_becomes_a_draft_of_its_own(
    dashboard: Dashboard, accounts: list[ConnectedAccount], owner: User
) -> None:
    page = dashboard.get("compose")
    form = {name: fields(page, name)[0] for name in ("csrfmiddlewaretoken", "key", "writer")} | {"account": accounts[0].id}
    dashboard.http.post(dashboard.address("compose"), form | {"action": "save", "text": "First"}, headers=BROWSER)
    Session.objects.all().delete()
    dashboard.http.post(dashboard.address("compose"), form | {"action": "save", "text": "Second"}, headers=BROWSER)
    sign_in_here(dashboard.http, owner)
    composer = dashboard.http.get(dashboard.address("compose"), follow=True)

    assert typed(composer, "text") == "Second"
    assert PostGroup.objects.get().text == "First"


def test_one_address_cannot_fill_the_database_with_texts(dashboard: Dashboard) -> None:
    page = dashboard.get("compose")
    form = {name: fields(page, name)[0] for name in ("csrfmiddlewaretoken", "writer")} | {"text": "again and again"}
    Session.objects.all().delete()
    for _ in range(KEPT_TEXTS_PER_CLIENT + 2):
        dashboard.http.cookies.pop("sessionid", None)
        dashboard.http.post(dashboard.address("compose"), form, headers=BROWSER)

    assert Session.objects.count() == KEPT_TEXTS_PER_CLIENT
