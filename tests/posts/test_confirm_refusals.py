"""POST /posts/{id}/confirm: refused groups and refused callers."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import LedgerEntry
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.calls import confirm, group_in, patch
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, read
from workspaces.models import User, Workspace

WAITS = {"default_mode": "requires_confirmation"}
NOW = "2027-03-10T12:00:00Z"


def test_a_version_that_is_not_current_is_not_confirmed(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS)
    group = create(agent, account)
    patch(agent, group, text="Something else")
    before = read(api, group)
    assert before["content_version"] == 2

    for version in (1, 3):
        for dry_run in (True, False):
            assert_envelope(confirm(api, group, version, dry_run=dry_run), 409, "CONFLICT")
    assert read(api, group) == before
    assert group_in(confirm(api, group, 2))["status"] == "publishing"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"content_version": 0}, "content_version"),
        ({"content_version": "1"}, "content_version"),
        ({"content_version": None}, "content_version"),
        ({"content_version": 2**63}, "content_version"),
        ({"scheduled_at": "2027-03-10T11:58:59Z"}, "scheduled_at"),
        ({"scheduled_at": None}, "scheduled_at"),
        ({"text": "Hello"}, "text"),
    ],
)
def test_invalid_input_is_refused(
    api: ApiClient, account: ConnectedAccount, clock: Any, fields: dict[str, Any], name: str
) -> None:
    group = create(api, account, draft=True)

    answer = api.post(f"/posts/{group['id']}/confirm", {"content_version": 1, **fields})

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [name]
    assert_envelope(api.post(f"/posts/{group['id']}/confirm"), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize("state", ["scheduled", "publishing", "published", "cancelled", "rejected"])
def test_only_drafts_and_waiting_groups_can_be_confirmed(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any, state: str
) -> None:
    client = agent_client(**WAITS) if state in ("cancelled", "rejected") else api
    group = create(client, account, **({"scheduled_at": TOMORROW} if state == "scheduled" else {}))
    if state == "published":
        run_until_idle()
    if state == "cancelled":
        api.delete(f"/posts/{group['id']}")
    if state == "rejected":
        api.post(f"/posts/{group['id']}/reject")
    before = read(api, group)
    assert before["status"] == state

    for dry_run in (True, False):
        assert_envelope(confirm(api, group, dry_run=dry_run), 409, "INVALID_STATE")
    assert read(api, group) == before


def test_an_agent_never_confirms(agent_client: Any, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, draft=True)

    for mode in ("dry_run", "requires_confirmation", "allow_publish"):
        assert_envelope(confirm(agent_client(default_mode=mode), group), 403, "FORBIDDEN")
    assert read(api, group) == group


def test_members_and_strangers_do_not_confirm(
    api: ApiClient, account: ConnectedAccount, teammate: User, stranger: User
) -> None:
    group = create(api, account, draft=True)

    assert_envelope(confirm(as_user(teammate), group), 403, "FORBIDDEN")
    assert_envelope(confirm(as_user(stranger), group), 404, "NOT_FOUND")
    assert read(api, group) == group


@pytest.mark.parametrize(
    ("scope", "fields", "status"),
    [
        ("posts.publish", {}, 200),
        ("posts.publish", {"scheduled_at": TOMORROW}, 403),
        ("posts.schedule", {}, 403),
        ("posts.schedule", {"scheduled_at": TOMORROW}, 200),
        ("posts.draft", {"scheduled_at": TOMORROW}, 403),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_key_needs_the_scope_for_publishing_or_scheduling(
    api: ApiClient,
    key_with: Any,
    account: ConnectedAccount,
    clock: Any,
    scope: str,
    fields: dict[str, Any],
    status: int,
    dry_run: bool,
) -> None:
    group = create(api, account, draft=True)

    assert confirm(key_with(scope), group, **fields, dry_run=dry_run).status_code == status


def test_the_content_is_checked_again(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, telegram_account: ConnectedAccount
) -> None:
    waiting = create(agent_client(**WAITS), account, telegram_account)
    long = create(api, account, draft=True, text="a" * 301)
    ConnectedAccount.objects.filter(pk=telegram_account.pk).update(status="needs_reauth")

    for group, where in ((waiting, "targets[1].connected_account_id"), (long, "targets[0].text")):
        for dry_run in (True, False):
            refused = assert_envelope(confirm(api, group, dry_run=dry_run), 422, "CONTENT_INVALID")
            assert [issue["field"] for issue in refused["details"]] == [where]
        assert read(api, group) == group
    assert not LedgerEntry.objects.exists()


@pytest.mark.parametrize("scheduled_at", ["2027-03-10T11:58:59Z", "2028-03-11T12:00:01Z"])
def test_a_draft_with_an_invalid_time_is_refused(
    api: ApiClient, account: ConnectedAccount, clock: Any, scheduled_at: str
) -> None:
    answer = api.post("/posts", body_for(account, draft=True, scheduled_at=scheduled_at))

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == ["scheduled_at"]


@pytest.mark.parametrize("status", ["paused", "deleted"])
def test_nothing_is_confirmed_in_a_paused_workspace(
    api: ApiClient, owner: User, account: ConnectedAccount, status: str
) -> None:
    group = create(api, account, draft=True)
    Workspace.objects.filter(pk=group["workspace_id"]).update(status=status)

    expected = (403, "WORKSPACE_PAUSED") if status == "paused" else (404, "NOT_FOUND")
    assert_envelope(confirm(as_user(owner), group), *expected)
    assert PostGroup.objects.get().status == "draft"
