"""Options that the account's permissions do not allow are refused before publishing, with a repair."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from workspaces.models import User, Workspace

MEMBER, PAGE = "urn:li:person:a", "urn:li:organization:1"
ALLOWED = ["w_member_social", "w_member_social_feed"]
FIELD = "targets[0].options.first_comment"


def account_of(workspace: Workspace, external_id: str, scopes: list[str], **fields: Any) -> ConnectedAccount:
    row: ConnectedAccount = AccountFactory(
        workspace=workspace, platform="linkedin", sandbox=False, external_id=external_id, scopes=scopes, **fields
    )
    return row


def body_for(account: ConnectedAccount, **options: Any) -> dict[str, Any]:
    target = {"platform": "linkedin", "connected_account_id": account.id, "options": options}
    return {"workspace_id": account.workspace_id, "text": "Hello", "targets": [target]}


@pytest.mark.parametrize(
    ("external_id", "scopes", "scope"),
    [
        (MEMBER, ["openid", "w_member_social"], "w_member_social_feed"),
        (MEMBER, ["w_member_social", "w_organization_social_feed"], "w_member_social_feed"),
        (PAGE, ["w_organization_social", "w_member_social_feed"], "w_organization_social_feed"),
    ],
)
def test_a_comment_without_its_scope_is_refused_until_it_is_removed(
    api: ApiClient, workspace: Workspace, external_id: str, scopes: list[str], scope: str
) -> None:
    account = account_of(workspace, external_id, scopes)
    body = body_for(account, first_comment="First!", visibility="PUBLIC")

    [issue] = api.post("/posts/validate", body).json()["targets"][0]["issues"]

    assert (issue["code"], issue["severity"], issue["field"]) == ("OPTION_NOT_GRANTED", "error", FIELD)
    assert scope in issue["message"]
    assert "connect the account again" in issue["message"]
    assert issue["repair_hint"] == {"action": "remove_option", "field": FIELD, "explanation": "Leave the first comment out."}
    assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")
    del body["targets"][0]["options"]["first_comment"]
    assert api.post("/posts/validate", body).json()["valid"] is True

    taken = api.get(f"/accounts/{account.id}/capabilities").json()["capabilities"]
    assert "first_comment" not in taken["features"]
    assert set(taken["options"]["properties"]) == {"visibility", "title", "article"}


@pytest.mark.parametrize(
    ("external_id", "scopes"), [(MEMBER, ALLOWED), (PAGE, ["w_organization_social_feed"]), ("sandbox-linkedin", [])]
)
def test_a_comment_with_its_scope_is_accepted(
    api: ApiClient, workspace: Workspace, external_id: str, scopes: list[str]
) -> None:
    account = account_of(workspace, external_id, scopes)

    assert api.post("/posts/validate", body_for(account, first_comment="First!")).json()["valid"] is True
    taken = api.get(f"/accounts/{account.id}/capabilities").json()["capabilities"]
    assert "first_comment" in taken["features"]
    assert "first_comment" in taken["options"]["properties"]


def test_a_composer_button_removes_the_comment(workspace: Workspace, owner: User) -> None:
    dashboard = Dashboard(workspace, owner)
    account = account_of(workspace, MEMBER, ["w_member_social"])
    hidden = {f"{account.id}-unshown": json.dumps({"first_comment": "First!"})}

    shown = dashboard.compose("check", account, extra=hidden)
    assert f'value="repair:{FIELD}|OPTION_NOT_GRANTED"' in shown.content.decode()
    assert "Leave the first comment out." in words(shown)

    page = dashboard.compose(f"repair:{FIELD}|OPTION_NOT_GRANTED", account, extra=hidden)

    assert "Valid for this account." in words(page)
    assert "First!" not in page.content.decode()
