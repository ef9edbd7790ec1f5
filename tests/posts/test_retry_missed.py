"""POST /posts/retry-missed: posts whose times were missed are sent now, all of them or those that are named."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostTarget
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, read
from workspaces.models import Workspace


@pytest.fixture
def missed(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> list[dict[str, Any]]:
    """Two posts that have missed their time; the first has been refused by another account before."""
    targets = [{"platform": each.platform, "connected_account_id": each.id} for each in accounts[:2]]
    targets[0] |= {"text": "[sandbox:reject]", "scheduled_at": "2027-03-10T12:30:00Z"}
    first = api.post("/posts", {"text": "Hello", "targets": targets, "scheduled_at": TOMORROW}).json()["post_group"]
    second = create(api, accounts[2], scheduled_at=TOMORROW)
    clock.shift(timedelta(hours=1))
    run_until_idle()
    clock.shift(timedelta(days=3))
    run_until_idle()
    return [first, second]


def statuses(api: ApiClient, groups: list[dict[str, Any]]) -> list[list[str]]:
    return [[target["status"] for target in read(api, group)["targets"]] for group in groups]


def retry(client: ApiClient, key: str = "", **fields: Any) -> Any:
    return client.post("/posts/retry-missed", fields, **({"idempotency_key": key} if key else {}))


def test_all_missed_posts_are_sent_where_they_missed_their_time(api: ApiClient, missed: list[dict[str, Any]]) -> None:
    preview = retry(api, dry_run=True).json()
    assert {each["id"] for each in preview["would_update"]["post_groups"]} == {each["id"] for each in missed}
    assert statuses(api, missed) == [["failed", "failed"], ["failed"]]

    answer = api.post("/posts/retry-missed", {}, plan_hash=preview["plan_hash"])

    assert answer.status_code == 200, answer.content
    assert statuses(api, missed) == [["failed", "pending"], ["pending"]]
    run_until_idle()
    assert statuses(api, missed) == [["failed", "published"], ["published"]]
    entries = AuditEntry.objects.filter(operation="posts.retry_missed", dry_run=False)
    assert set(entries.values_list("resource_id", flat=True)) == {each["id"] for each in missed}
    assert_envelope(retry(api), 409, "INVALID_STATE")


def test_the_same_key_sends_the_named_post_once(api: ApiClient, missed: list[dict[str, Any]]) -> None:
    named = {"post_group_ids": [missed[1]["id"]]}
    retry(api, key="k", **named)
    run_until_idle()

    again = retry(api, key="k", **named)

    assert again.headers["Idempotency-Replayed"] == "true"
    assert [each["status"] for each in again.json()["post_groups"]] == ["published"]
    assert statuses(api, missed) == [["failed", "failed"], ["published"]]
    assert PostTarget.objects.get(group=missed[1]["id"]).attempts == 1


def test_if_one_post_cannot_be_sent_none_is(api: ApiClient, account: ConnectedAccount, missed: list[dict[str, Any]]) -> None:
    foreign = create(ApiClient(factories.workspace_key(other := factories.WorkspaceFactory())), _account(other))
    for wrong in (create(api, account, text="Fine"), foreign):
        answer = retry(api, post_group_ids=[missed[0]["id"], wrong["id"]])
        [row] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
        assert (row["field"], row["code"]) == ("post_group_ids[1]", "not_missed")
    assert statuses(api, missed) == [["failed", "failed"], ["failed"]]


def test_who_may_not_publish_sends_nothing(
    api: ApiClient, agent_client: Any, missed: list[dict[str, Any]], workspace: Workspace
) -> None:
    assert_envelope(retry(agent_client(default_mode="requires_confirmation")), 403, "AGENT_MODE_FORBIDS")
    reader = ApiClient(factories.workspace_key(workspace, scopes=["posts.read"]))
    assert_envelope(retry(reader), 403, "SCOPE_MISSING")
    assert statuses(api, missed) == [["failed", "failed"], ["failed"]]


def _account(workspace: Workspace) -> ConnectedAccount:
    made: ConnectedAccount = factories.AccountFactory(workspace=workspace)
    return made
