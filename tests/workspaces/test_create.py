"""Tests of POST /workspaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
OPTIONAL = {
    "default_timezone": "Europe/Berlin",
    "free_monthly_credit_cents": 0,
    "monthly_spend_cap_cents": 2**63 - 1,
    "monthly_social_url_post_cap": 7,
    "commit_pack_id": "pack-1",
}
DEFAULTS = {
    "default_timezone": "UTC",
    "free_monthly_credit_cents": 100,
    "monthly_spend_cap_cents": 0,
    "monthly_social_url_post_cap": 0,
}


def create(client: ApiClient, owner: User, *, key: str = "", **fields: Any) -> Any:
    headers = {"idempotency_key": key} if key else {}
    return client.post("/workspaces", {"owner_user_id": owner.id, "name": "Acme Labs", **fields}, **headers)


@pytest.mark.parametrize(("given", "expected"), [({}, DEFAULTS), (OPTIONAL, OPTIONAL)], ids=["defaults", "all given"])
def test_a_user_creates_a_workspace(owner: User, given: dict[str, Any], expected: dict[str, Any]) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = create(as_user(owner), owner, **given)

    made = Workspace.objects.get(name="Acme Labs")
    assert answer.status_code == 201
    assert answer.json() == {
        "workspace": {
            "id": made.id,
            "name": "Acme Labs",
            "slug": "acme-labs",
            "owner_user_id": owner.id,
            "processor_customer_id": "",
            **expected,
            "status": "active",
            "created_at": "2027-03-10T12:00:00Z",
            "updated_at": "2027-03-10T12:00:00Z",
        }
    }
    assert [(member.user_id, member.role) for member in Member.objects.filter(workspace=made)] == [(owner.id, "owner")]


def test_a_new_workspace_gets_a_sandbox_account_for_each_platform(owner: User) -> None:
    made = create(as_user(owner), owner).json()["workspace"]["id"]

    accounts = ConnectedAccount.objects.filter(workspace_id=made)
    assert sorted(account.platform for account in accounts) == sorted(PLATFORMS)
    assert {(account.sandbox, account.status) for account in accounts} == {(True, "active")}


@pytest.mark.parametrize(("given", "expected"), [({}, DEFAULTS), (OPTIONAL, OPTIONAL)], ids=["defaults", "all given"])
def test_a_dry_run_returns_a_preview_and_creates_nothing(
    owner: User, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = create(as_user(owner), owner, dry_run=True, **given)

    resolved = {"owner_user_id": owner.id, "name": "Acme Labs", **expected}
    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "workspaces.create",
        "request": resolved,
        "would_create": {
            "workspace": {**resolved, "slug": "acme-labs", "status": "active"},
            "sandbox_accounts": {"count": len(PLATFORMS), "platforms": list(PLATFORMS)},
        },
    }
    assert not Workspace.objects.exists()
    assert not ConnectedAccount.objects.exists()


def test_a_taken_slug_gets_a_short_suffix(owner: User) -> None:
    slugs = [create(as_user(owner), owner).json()["workspace"]["slug"] for _ in range(3)]

    assert slugs[0] == "acme-labs"
    assert len(set(slugs)) == 3
    assert all(slug.startswith("acme-labs-") for slug in slugs[1:])


def test_a_name_without_latin_letters_gets_a_slug(owner: User) -> None:
    assert create(as_user(owner), owner, name="株式会社").json()["workspace"]["slug"] == "workspace"


@pytest.mark.django_db(transaction=True)
def test_concurrent_workspaces_with_the_same_name_are_all_created(owner: User) -> None:
    answers = in_threads(6, lambda _: create(as_user(owner), owner))

    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.json()["workspace"]["slug"] for answer in answers}) == 6


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"name": " "}, "name", "blank"),
        ({"name": "a" * 201}, "name", "max_length"),
        ({"name": 1}, "name", "wrong_type"),
        ({"owner_user_id": "usr_1"}, "owner_user_id", "invalid_id"),
        ({"default_timezone": "localtime"}, "default_timezone", "invalid"),
        ({"default_timezone": "Mars/Olympus"}, "default_timezone", "invalid"),
        ({"free_monthly_credit_cents": -1}, "free_monthly_credit_cents", "min_value"),
        ({"monthly_spend_cap_cents": "5"}, "monthly_spend_cap_cents", "wrong_type"),
        ({"monthly_spend_cap_cents": 2**63}, "monthly_spend_cap_cents", "max_value"),
        ({"monthly_social_url_post_cap": True}, "monthly_social_url_post_cap", "wrong_type"),
        ({"commit_pack_id": None}, "commit_pack_id", "null"),
        ({"dry_run": "true"}, "dry_run", "wrong_type"),
        ({"status": "paused"}, "status", "unknown_field"),
    ],
)
def test_an_invalid_field_is_named_in_the_error(owner: User, fields: dict[str, Any], field: str, code: str) -> None:
    body = assert_envelope(create(as_user(owner), owner, **fields), 422, "VALIDATION_FAILED")

    assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, code)]
    assert not Workspace.objects.exists()


def test_missing_required_fields_are_named_in_the_error(owner: User) -> None:
    body = assert_envelope(as_user(owner).post("/workspaces"), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == ["owner_user_id", "name"]


def test_a_workspace_key_creates_a_workspace_for_its_owner(workspace: Workspace, key_with: Callable[..., ApiClient]) -> None:
    answer = create(key_with("api_keys.write"), workspace.owner_user)

    assert answer.status_code == 201
    assert answer.json()["workspace"]["owner_user_id"] == workspace.owner_user_id


def test_nobody_can_create_a_workspace_for_another_user(
    api: ApiClient, owner: User, teammate: User, stranger: User, agent_client: Callable[..., ApiClient]
) -> None:
    before = Workspace.objects.count()

    for client, whose in (
        (as_user(stranger), owner),
        (as_user(teammate), owner),
        (as_user(owner), teammate),
        (api, stranger),
        (agent_client(), owner),
    ):
        for dry_run in (False, True):
            assert_envelope(create(client, whose, dry_run=dry_run), 403, "FORBIDDEN")
    assert Workspace.objects.count() == before


def test_a_key_without_the_scope_cannot_create_a_workspace(owner: User, key_with: Callable[..., ApiClient]) -> None:
    assert_envelope(create(key_with("accounts.write"), owner), 403, "SCOPE_MISSING")
    assert_envelope(create(ApiClient(), owner), 401, "UNAUTHENTICATED")

    assert Workspace.objects.count() == 1


def test_a_key_of_a_paused_workspace_cannot_create_a_workspace(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(create(api, workspace.owner_user), 403, "WORKSPACE_PAUSED")
    assert Workspace.objects.count() == 1


def test_an_idempotency_key_creates_only_one_workspace(api: ApiClient, owner: User) -> None:
    first = create(as_user(owner), owner, key="one")
    second = create(as_user(owner), owner, key="one")
    other = create(as_user(owner), owner, key="one", name="Another")
    by_key = create(api, owner, key="one")

    for again in (second, other, by_key):
        assert (again.status_code, again.json()) == (201, first.json())
        assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Request-Differs" not in second
    assert other["Idempotency-Request-Differs"] == "true"
    assert Workspace.objects.count() == 2


def test_a_dry_run_does_not_use_the_idempotency_key(owner: User) -> None:
    before = create(as_user(owner), owner, key="one", dry_run=True)
    made = create(as_user(owner), owner, key="one")
    after = create(as_user(owner), owner, key="one", dry_run=True)

    assert [answer.status_code for answer in (before, made, after)] == [200, 201, 200]
    assert "Idempotency-Replayed" not in after
    assert Workspace.objects.count() == 1


def test_another_caller_with_the_same_idempotency_key_gets_no_replay(
    api: ApiClient, owner: User, teammate: User, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    create(as_user(owner), owner, key="one")

    for client in (as_user(stranger), as_user(teammate), key_with("posts.read")):
        assert create(client, owner, key="one").status_code == 403
