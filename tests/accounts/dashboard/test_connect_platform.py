"""The dashboard page that connects an account of one platform."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.platforms.registry import PLATFORMS, get_adapter
from auditlog.models import AuditEntry
from tests.accounts.conftest import APP_PASSWORD, HANDLE
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import FakeOAuthPlatform
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import User, Workspace

SECRETS = {"app_password", "access_token", "bot_token", "webhook_url"}


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


@pytest.fixture
def typed(pds: FakeBluesky) -> dict[str, str]:
    """Valid credentials, as people paste them."""
    return {"identifier": f" {HANDLE}", "app_password": f"{APP_PASSWORD} ", "service": pds.url}


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_connection_method_has_a_form_or_a_reason_why_not(pages: Pages, name: str) -> None:
    """All fields are texts, so that a form can take them; secrets are marked and typed hidden."""
    page = pages.get("account-connect", platform_name=name)
    chosen = get_adapter(name)
    for method in chosen.methods:
        obstacle = chosen.unavailable_reason(method)
        assert set(re.findall("[A-Z]+_[A-Z_]+", obstacle or "")) <= set(re.findall("[A-Z]+_[A-Z_]+", words(page)))
        assert obstacle or has_form(page, "/dashboard/connect" if method == "oauth" else "")
    for schema in filter(None, (chosen.credentials_schema, chosen.oauth_input_schema)):
        assert {rule["type"] for rule in schema["properties"].values()} == {"string"}
        assert {field for field, rule in schema["properties"].items() if rule.get("writeOnly")} == SECRETS & set(
            schema["properties"]
        )
    inputs = dict(re.findall(r'<input type="([a-z]+)" name="([a-z_]+)"', page.content.decode()))
    assert all(kind == "password" for kind, field in inputs.items() if field in SECRETS)


@pytest.mark.parametrize("name", PLATFORMS)
def test_an_unavailable_method_shows_what_the_operator_has_to_do(pages: Pages, name: str, settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {}
    page = pages.get("account-connect", platform_name=name)
    applications = get_adapter(name).setup.applications
    assert ("What the operator of this service has to do" in words(page)) is bool(applications)
    for application in applications:
        assert f'href="{application.portal}"' in page.content.decode()
        redirect = f"{settings.BASE_URL}{application.redirect_path}"
        for text in (*application.products, redirect, *application.scopes, *application.settings, application.review):
            assert text in words(page)


def test_completed_operator_setup_is_not_shown(pages: Pages, settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "the id", "X_CLIENT_SECRET": "the secret"}
    assert "What the operator" not in words(pages.get("account-connect", platform_name="x"))


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_page_shows_what_is_not_possible(pages: Pages, name: str) -> None:
    shown = words(pages.get("account-connect", platform_name=name))
    assert all(sentence in shown for sentence in get_adapter(name).capabilities.not_possible)


def test_good_credentials_connect_the_account(pages: Pages, workspace: Workspace, typed: dict[str, str]) -> None:
    answer = pages.post("account-connect", typed, follow=True, platform_name="bluesky")

    account = ConnectedAccount.objects.get()
    assert (account.workspace, account.handle, account.method) == (workspace, HANDLE, "credentials")
    assert f"The Bluesky account {HANDLE} is connected." in words(answer)
    assert answer.request["PATH_INFO"] == pages.address("account", account_id=account.id)
    assert AuditEntry.objects.get(operation="accounts.connect").actor_type == "user"


def test_connecting_again_updates_the_account(pages: Pages, connected: ConnectedAccount, typed: dict[str, str]) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")
    pages.post("account-connect", typed, platform_name="bluesky")
    assert ConnectedAccount.objects.values_list("pk", "status").get() == (connected.pk, "active")


def test_refused_credentials_are_reported_and_never_shown(pages: Pages, typed: dict[str, str]) -> None:
    page = pages.post("account-connect", {**typed, "app_password": "wrong-wrong"}, platform_name="bluesky")

    assert page.status_code == 422
    assert 'role="alert"' in page.content.decode()
    assert "wrong-wrong" not in page.content.decode()
    assert form_of(page)["identifier"].strip() == HANDLE
    assert not ConnectedAccount.objects.exists()
    refused = AuditEntry.objects.get(operation="accounts.connect")
    assert (refused.outcome, refused.code) == ("refused", "CREDENTIALS_REJECTED")


@pytest.mark.parametrize(
    ("name", "form", "error"),
    [
        ("bluesky", {"identifier": HANDLE}, "This field is required."),
        ("telegram", {"bot_token": "none", "chat_id": "@news"}, "This does not look as the hint says."),
        ("telegram", {"bot_token": "1:a", "chat_id": "two words"}, "This does not look as the hint says."),
        ("bluesky", {"identifier": "a" * 513, "app_password": "a"}, "at most 512 characters"),
        ("x", {}, "X is connected by oauth."),
    ],
)
def test_an_invalid_form_is_shown_again_with_its_errors(pages: Pages, name: str, form: dict[str, str], error: str) -> None:
    page = pages.post("account-connect", form, platform_name=name)
    assert page.status_code == 422
    assert error in words(page)
    assert not ConnectedAccount.objects.exists()


def test_the_oauth_method_redirects_to_the_platform(pages: Pages, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    page = pages.get("account-connect", platform_name="pinterest")
    answer = pages.http.post("/dashboard/connect", form_of(page, "/dashboard/connect"))

    assert answer["location"].startswith(provider.url)
    attempt = ConnectionAttempt.objects.get()
    assert (attempt.workspace, attempt.platform) == (workspace, "pinterest")


def test_the_oauth_form_has_the_fields_of_its_schema(pages: Pages) -> None:
    page = pages.get("account-connect", platform_name="mastodon")
    assert set(form_of(page, "/dashboard/connect")) >= {"workspace_id", "platform", "instance"}


def test_an_unknown_platform_has_no_page(pages: Pages) -> None:
    assert pages.get("account-connect", platform_name="nowhere").status_code == 404


def test_members_and_strangers_connect_nothing(
    workspace: Workspace, owner: User, teammate: User, stranger: User, typed: dict[str, str], pds: FakeBluesky
) -> None:
    member, foreign = Pages(workspace, teammate), Pages(workspace, stranger)
    forged = Pages(workspace, owner, csrf=True)
    assert member.get("account-connect", platform_name="bluesky").status_code == 403
    assert foreign.get("account-connect", platform_name="bluesky").status_code == 404
    answer = member.post("account-connect", typed, follow=True, platform_name="bluesky")
    assert "it needs an owner or admin" in words(answer)
    assert foreign.post("account-connect", typed, platform_name="bluesky").status_code == 404
    assert forged.post("account-connect", typed, platform_name="bluesky").status_code == 403
    assert pds.sessions_created == 0
    assert not ConnectedAccount.objects.exists()
