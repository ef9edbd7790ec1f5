"""PATCH /posts/{id}: refused changes and refused callers."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from config.jobs.claims import claim_due
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.calls import group_in, patch, targets_for
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, read
from workspaces.models import User

WAITS = {"default_mode": "requires_confirmation"}
LATER, APRIL = "2027-03-12T12:00:00Z", "2027-04-02T12:00:00Z"


@pytest.mark.parametrize(
    ("mode", "made", "outcome"),
    [
        ("draft", {"draft": True}, "draft"),
        ("draft", {"scheduled_at": TOMORROW}, "AGENT_MODE_FORBIDS"),
        ("requires_confirmation", {"draft": True}, "draft"),
        ("allow_publish", {"scheduled_at": TOMORROW}, "scheduled"),
        ("dry_run", {"draft": True}, "preview"),
    ],
)
def test_the_agents_mode_limits_what_it_may_do(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any, mode: str, made: dict[str, Any], outcome: str
) -> None:
    group = create(api, account, **made)

    answer = patch(agent_client(default_mode=mode), group, text="Better")

    if outcome == "AGENT_MODE_FORBIDS":
        assert_envelope(answer, 403, outcome)
    elif outcome == "preview":
        assert answer.json()["dry_run"] is True
    else:
        assert group_in(answer)["status"] == outcome
    assert read(api, group)["content_version"] == (1 if outcome in ("AGENT_MODE_FORBIDS", "preview") else 2)


@pytest.mark.parametrize("changes", [{"text": "Better"}, {"targets": True}])
def test_an_agent_can_only_edit_posts_to_its_allowed_accounts(
    api: ApiClient, agent_client: Any, accounts: list[ConnectedAccount], changes: dict[str, Any]
) -> None:
    group = create(api, *(accounts[:1] if "targets" in changes else accounts[:2]), draft=True)
    client = agent_client(account_allowlist=[accounts[0].id])
    changes = {"targets": targets_for(*accounts[:2])} if "targets" in changes else changes

    for dry_run in (True, False):
        assert_envelope(patch(client, group, **changes, dry_run=dry_run), 403, "ACCOUNT_NOT_ALLOWED")
    assert read(api, group) == group
    if "targets" in changes:
        assert patch(client, group, targets=targets_for(accounts[0])).status_code == 200


def test_an_agent_cannot_remove_accounts_that_it_may_not_use(
    api: ApiClient, agent_client: Any, accounts: list[ConnectedAccount]
) -> None:
    group = create(api, *accounts[:2], draft=True)
    narrow = agent_client(account_allowlist=[accounts[0].id])

    for dry_run in (True, False):
        answer = patch(narrow, group, targets=targets_for(accounts[0]), dry_run=dry_run)
        assert_envelope(answer, 403, "ACCOUNT_NOT_ALLOWED")
    assert read(api, group) == group
    wide = agent_client(account_allowlist=[each.id for each in accounts[:2]])
    assert patch(wide, group, targets=targets_for(accounts[0])).status_code == 200


@pytest.mark.parametrize("state", ["begun", "retrying", "published", "failed", "cancelled", "retried"])
def test_started_and_finished_groups_cannot_be_edited(
    api: ApiClient, account: ConnectedAccount, clock: Any, state: str
) -> None:
    texts = {"retrying": "[sandbox:flaky]", "failed": "[sandbox:reject]", "retried": "[sandbox:reject]"}
    group = create(api, account, text=texts.get(state, "Hello"), **({"draft": True} if state == "cancelled" else {}))
    if state == "cancelled":
        api.delete(f"/posts/{group['id']}")
    elif state == "begun":
        claim_due(PostTarget.objects.all(), limit=1, lease=LEASE)
    else:
        run_until_idle()
    if state == "retried":
        api.post(f"/posts/{group['id']}/retry", {"scheduled_at": TOMORROW})
    before = read(api, group)

    for dry_run in (True, False):
        assert_envelope(patch(api, group, text="Better", dry_run=dry_run), 409, "INVALID_STATE")
    assert read(api, group) == before


def test_the_time_of_a_scheduled_group_cannot_be_removed(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    for dry_run in (True, False):
        answer = patch(api, group, scheduled_at=None, dry_run=dry_run)
        [row] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
        assert (row["field"], row["code"]) == ("scheduled_at", "required")
    assert read(api, group) == group


@pytest.mark.parametrize("made", [{"draft": True}, {"scheduled_at": TOMORROW}])
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": None}, "text"),
        ({"text": "a" * 100_001}, "text"),
        ({"targets": []}, "targets"),
        ({"targets": None}, "targets"),
        ({"targets": [{"platform": "x", "connected_account_id": new_id("acc")}]}, "targets[0].connected_account_id"),
        ({"media": [{"media_id": new_id("med")}]}, "media[0].media_id"),
        ({"scheduled_at": "2027-03-10T11:58:59Z"}, "scheduled_at"),
        ({"scheduled_at": "2028-03-11T12:00:01Z"}, "scheduled_at"),
        ({"status": "published"}, "status"),
        ({"webhook_url": "https://hooks.example.com/"}, "webhook_url"),
    ],
)
def test_invalid_input_is_refused(
    api: ApiClient, account: ConnectedAccount, clock: Any, made: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    group = create(api, account, **made)

    for dry_run in (True, False):
        answer = patch(api, group, **changes, dry_run=dry_run)
        assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [field]
    assert read(api, group) == group


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": "a" * 301}, "targets[0].text"),
        ({"text": " "}, "targets[0].text"),
        ({"targets": {"options": {"nonsense": 1}}}, "targets[0].options"),
    ],
)
def test_invalid_content_is_refused_except_for_a_draft(
    api: ApiClient, account: ConnectedAccount, clock: Any, changes: dict[str, Any], field: str
) -> None:
    if "targets" in changes:
        changes = {"targets": targets_for(account, **changes["targets"])}
    group = create(api, account, scheduled_at=TOMORROW)

    for dry_run in (True, False):
        refused = assert_envelope(patch(api, group, **changes, dry_run=dry_run), 422, "CONTENT_INVALID")
        assert [issue["field"] for issue in refused["details"]] == [field]
    assert read(api, group) == group
    assert group_in(patch(api, create(api, account, draft=True), **changes))["status"] == "draft"


@pytest.mark.parametrize(
    ("made", "scope", "status"),
    [
        ({"draft": True}, "posts.draft", 200),
        ({"draft": True, "scheduled_at": TOMORROW}, "posts.draft", 200),
        ({"draft": True}, "posts.publish", 403),
        ({"scheduled_at": TOMORROW}, "posts.schedule", 200),
        ({"scheduled_at": TOMORROW}, "posts.publish", 403),
        ({"scheduled_at": TOMORROW}, "posts.read", 403),
    ],
)
def test_the_scope_depends_on_what_is_edited(
    api: ApiClient,
    key_with: Any,
    telegram_account: ConnectedAccount,
    clock: Any,
    made: dict[str, Any],
    scope: str,
    status: int,
) -> None:
    group = create(api, telegram_account, **made)
    client = key_with(scope)

    assert patch(client, group, text="Better").status_code == status
    any_of_them = 403 if scope == "posts.read" else 200
    assert patch(client, group, text="Best", dry_run=True).status_code == any_of_them
    sandboxed = create(api, telegram_account, sandbox=True, **made)
    assert patch(client, sandboxed, text="Best").status_code == any_of_them


def test_members_and_strangers_do_not_edit(api: ApiClient, account: ConnectedAccount, teammate: User, stranger: User) -> None:
    group = create(api, account, draft=True)

    assert_envelope(patch(as_user(teammate), group, text="Better"), 403, "FORBIDDEN")
    assert_envelope(patch(as_user(stranger), group, text="Better"), 404, "NOT_FOUND")
    assert read(api, group) == group
