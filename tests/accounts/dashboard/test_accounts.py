"""The dashboard pages of connected accounts: the list with their status, and one account with its limits."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.dashboard.capabilities_in_words import capabilities_in_words
from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, all_adapters, get_adapter
from auditlog.models import AuditEntry
from tests import factories
from tests.fakes.bluesky import FakeBluesky
from tests.pages import Pages, has_form, words
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def real(workspace: Workspace, **fields: Any) -> ConnectedAccount:
    return factories.AccountFactory(workspace=workspace, sandbox=False, **fields)


def test_a_workspace_without_accounts_is_shown_what_can_be_connected(pages: Pages, account: ConnectedAccount) -> None:
    page = pages.get("accounts")
    shown = words(page)
    assert "No account is connected yet" in shown
    assert f'href="{pages.address("account-connect", platform_name="bluesky")}"' in page.content.decode()
    assert "The operator of this service has not set X_CLIENT_ID and X_CLIENT_SECRET." in shown
    assert pages.address("account-connect", platform_name="x") not in page.content.decode()
    assert "Register an application for X accounts at https://console.x.com" in shown
    assert "Sandbox accounts" in shown
    assert account.handle in shown


def test_the_list_shows_each_accounts_status(pages: Pages, workspace: Workspace) -> None:
    lost = real(workspace, platform="mastodon", handle="lost@example.social", status="needs_reauth")
    real(workspace, handle="works.test", last_checked_at=timezone.now(), refresh_failures=3)
    real(workspace, handle="gone.test", status="disconnected")

    page = pages.get("accounts")
    assert "Reconnect LE Mastodon lost@example.social not checked yet" in words(page)
    assert f'href="{pages.address("account-connect", platform_name=lost.platform)}"' in page.content.decode()
    assert "Active WT Bluesky works.test checked" in words(page)
    assert "renewing its access failed" in words(page)
    assert "gone.test" not in words(page)


def test_the_account_page_shows_its_status_and_limits(pages: Pages, workspace: Workspace) -> None:
    soon = timezone.now() + timedelta(hours=1)
    row = real(
        workspace, platform="mastodon", handle="a@example.social", method="oauth", scopes=["write:statuses"],
        limits={"characters": 5000}, token_expires_at=soon, refresh_at=timezone.now(), profile_url="https://example.social/@a",
    )  # fmt: skip
    shown = words(pages.get("account", account_id=row.id))
    assert "it is renewed by itself" in shown
    assert "by signing in at Mastodon" in shown
    assert "Up to 5,000 characters" in shown
    assert "write:statuses" in shown
    assert "Who sees the post" in shown
    assert "Audio files cannot be posted." in shown


def test_the_account_page_says_that_access_ends_which_cannot_be_renewed(pages: Pages, workspace: Workspace) -> None:
    soon = timezone.now() + timedelta(hours=1)
    row = real(workspace, platform="linkedin", method="oauth", token_expires_at=soon, refresh_at=soon)
    shown = words(pages.get("account", account_id=row.id))
    assert "connect the account again before then" in shown
    assert "it is renewed by itself" not in shown


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platforms_capabilities_can_be_described(name: str) -> None:
    described = dict(capabilities_in_words(get_adapter(name).capabilities))
    assert f"{get_adapter(name).capabilities.text.max_length:,}" in described["Text"]
    assert ("Videos" in described) == (get_adapter(name).capabilities.media.videos is not None)
    assert ("have not been tried" in described.get("Threads", "")) == (name == "x")
    assert ("Polls" in described) == (get_adapter(name).capabilities.poll is not None)


def test_a_poll_is_described_with_its_limits() -> None:
    said = (
        "1 to 10 choices, up to 55 characters each, open from 1 hour to 32 days, in steps of 1 hour, "
        "several answers if you like"
    )
    assert dict(capabilities_in_words(get_adapter("discord").capabilities))["Polls"] == said
    assert "open from 5 minutes to 7 days, one answer" in dict(capabilities_in_words(get_adapter("x").capabilities))["Polls"]


@pytest.mark.parametrize(
    ("name", "row", "text"),
    [
        ("youtube", "Needed", "A post must have a video"),
        ("youtube", "Videos", "One (MP4, MOV, WebM), up to 256 GB, up to 12 hours long"),
        ("youtube", "Text", "no angle brackets"),
        ("instagram", "Needed", "A post must have a picture or a video"),
        ("instagram", "Text", "at most 30 hashtags, at most 20 mentions, at most 5 hashtags advised"),
        ("instagram", "Pictures", "0.8 to 1.911 times as wide as high"),
        ("threads", "Pictures", "at most 10 times as wide as high"),
        ("x", "Text", "at most 1 cashtag"),
        ("x", "Moving GIFs", "1.38 megapixels"),
        ("telegram", "Pictures", "width and height together up to 10,000 pixels"),
        ("discord", "In one post", "26.1 MB together"),
    ],
)
def test_the_description_contains_every_limit(name: str, row: str, text: str) -> None:
    assert text in dict(capabilities_in_words(get_adapter(name).capabilities))[row]


def test_a_check_calls_the_platform_and_shows_the_result(pages: Pages, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    page = pages.post("account-check", follow=True, account_id=connected.id)
    assert f"The Bluesky account {connected.handle} works." in words(page)

    pds.take_down(connected.external_id)
    page = pages.post("account-check", follow=True, account_id=connected.id)
    assert "connect it again" in words(page)
    connected.refresh_from_db()
    assert connected.status == "needs_reauth"
    assert "does not let us in any more" in words(pages.get("account", account_id=connected.id))


def test_an_unreachable_platform_is_shown(pages: Pages, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    pds.fail_next("com.atproto.server.getSession")
    page = pages.post("account-check", follow=True, account_id=connected.id)
    assert "Try again in a minute" in words(page)
    connected.refresh_from_db()
    assert connected.status == "active"


def test_an_account_is_disconnected(pages: Pages, connected: ConnectedAccount) -> None:
    page = pages.post("account-disconnect", follow=True, account_id=connected.id)
    assert f"The Bluesky account {connected.handle} is disconnected." in words(page)
    row = ConnectedAccount.objects.get(pk=connected.pk)
    assert (row.status, row.credentials, row.tokens) == ("disconnected", None, None)
    shown = pages.get("account", account_id=connected.id)
    assert "It is disconnected" in words(shown)
    assert not has_form(shown, pages.address("account-disconnect", account_id=connected.id))


def test_a_sandbox_account_has_no_disconnect_button(pages: Pages, account: ConnectedAccount) -> None:
    page = pages.get("account", account_id=account.id)
    assert has_form(page, pages.address("account-check", account_id=account.id))
    assert not has_form(page, pages.address("account-disconnect", account_id=account.id))


@pytest.mark.parametrize("name", ["account-check", "account-disconnect"])
def test_members_strangers_and_forged_forms_disconnect_nothing(
    workspace: Workspace, owner: User, teammate: User, stranger: User, account: ConnectedAccount, name: str
) -> None:
    page = Pages(workspace, teammate).get("account", account_id=account.id)
    assert not has_form(page, Pages(workspace, teammate).address(name, account_id=account.id))
    assert Pages(workspace, stranger).post(name, account_id=account.id).status_code == 404
    theirs = Pages(stranger.owned_workspaces.get(), stranger)
    assert theirs.get("account", account_id=account.id).status_code == 404
    assert "There is no such account" in words(theirs.post(name, follow=True, account_id=account.id))
    assert Pages(workspace, owner, csrf=True).post(name, account_id=account.id).status_code == 403
    assert Pages(workspace, teammate).post("account-disconnect", account_id=account.id).status_code == 303
    account.refresh_from_db()
    assert account.status == "active"
    assert AuditEntry.objects.filter(outcome="refused", operation="accounts.disconnect", actor_id=teammate.id).exists()


def test_an_account_of_another_own_workspace_is_not_found(pages: Pages, owner: User) -> None:
    theirs = factories.AccountFactory(workspace=factories.WorkspaceFactory(owner_user=owner))
    assert pages.get("account", account_id=theirs.id).status_code == 404
    pages.post("account-disconnect", account_id=theirs.id)
    theirs.refresh_from_db()
    assert theirs.status == "active"


def test_the_list_needs_few_queries(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for each in all_adapters():
        factories.AccountFactory(workspace=workspace, platform=each.name)
        real(workspace, platform=each.name)
    with django_assert_max_num_queries(10):
        page = pages.get("accounts")
    assert len(gzip.compress(page.content)) < 30_000
