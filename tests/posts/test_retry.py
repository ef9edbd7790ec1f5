"""POST /posts/{id}/retry: only failed targets are sent again."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import DayCounter, MonthCounter
from config.db.ids import new_id
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient, ServeNames
from tests.factories import WorkspaceFactory
from tests.fakes.name_server import Records
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, kinds_of, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from workspaces.models import User, Workspace


def retry(client: ApiClient, group: dict[str, Any], **fields: Any) -> Any:
    return client.post(f"/posts/{group['id']}/retry", fields)


def statuses(group: dict[str, Any]) -> list[str]:
    return [target["status"] for target in group["targets"]]


@pytest.fixture
def mixed(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A group with one failed, one published and one unconfirmed target."""
    made = create(api, *accounts, texts=["[sandbox:reject]", "Hello", "[sandbox:unknown]"])
    run_until_idle()
    return read(api, made)


def test_only_failed_targets_are_retried(api: ApiClient, mixed: dict[str, Any]) -> None:
    assert (mixed["status"], statuses(mixed)) == ("unconfirmed", ["failed", "published", "unconfirmed"])

    answer = retry(api, mixed)

    group = answer.json()["post_group"]
    assert (answer.status_code, group["status"], group["finished_at"]) == (200, "publishing", None)
    assert statuses(group) == ["pending", "published", "unconfirmed"]
    assert (group["targets"][0]["error"], group["targets"][0]["attempts"]) == (None, 1)
    assert group["targets"][0]["next_attempt_at"] == "2027-03-10T12:00:00Z"
    assert run_until_idle() == 1
    ended = read(api, mixed)
    assert [target["attempts"] for target in ended["targets"]] == [2, 1, 1]
    assert ended["status"] == "unconfirmed"


def test_unconfirmed_targets_are_retried_with_include_unconfirmed(api: ApiClient, mixed: dict[str, Any]) -> None:
    group = retry(api, mixed, include_unconfirmed=True).json()["post_group"]

    assert statuses(group) == ["pending", "published", "pending"]
    assert run_until_idle() == 2


def test_a_group_with_only_unconfirmed_targets_needs_include_unconfirmed(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, text="[sandbox:unknown]")
    run_until_idle()

    refused = assert_envelope(retry(api, group), 409, "INVALID_STATE")
    assert "include_unconfirmed" in refused["suggested_action"]
    assert retry(api, group, include_unconfirmed=True).status_code == 200


@pytest.mark.parametrize("state", ["draft", "scheduled", "publishing", "published", "cancelled"])
def test_a_group_that_has_not_failed_cannot_be_retried(
    api: ApiClient, account: ConnectedAccount, clock: Any, state: str
) -> None:
    fields: dict[str, dict[str, Any]] = {
        "draft": {"draft": True},
        "scheduled": {"scheduled_at": TOMORROW},
        "cancelled": {"draft": True},
    }
    group = create(api, account, **fields.get(state, {}))
    if state == "published":
        run_until_idle()
    if state == "cancelled":
        api.delete(f"/posts/{group['id']}")
    before = read(api, group)
    assert before["status"] == state

    for dry_run in (True, False):
        assert_envelope(retry(api, group, include_unconfirmed=True, dry_run=dry_run), 409, "INVALID_STATE")
    assert read(api, group) == before


def test_a_retry_can_be_scheduled(api: ApiClient, mixed: dict[str, Any], clock: Any) -> None:
    group = retry(api, mixed, scheduled_at=TOMORROW, webhook_url="https://hooks.example.com/new").json()["post_group"]

    assert (group["status"], group["scheduled_at"]) == ("scheduled", TOMORROW)
    assert group["webhook_url"] == "https://hooks.example.com/new"
    assert kinds_of(group)[-1] == "post.scheduled"
    assert run_until_idle() == 0
    clock.move_to(TOMORROW)
    assert run_until_idle() == 1


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"scheduled_at": "2027-03-10T11:58:00Z"}, 422, "VALIDATION_FAILED"),
        ({"webhook_url": "https://127.0.0.2/"}, 422, "WEBHOOK_URL_NOT_ALLOWED"),
        ({"workspace_id": new_id("wrk")}, 422, "VALIDATION_FAILED"),
        ({"text": "Another"}, 422, "VALIDATION_FAILED"),
    ],
)
def test_invalid_input_is_refused(
    api: ApiClient, mixed: dict[str, Any], fields: dict[str, Any], status: int, code: str
) -> None:
    assert_envelope(retry(api, mixed, **fields), status, code)
    assert read(api, mixed) == mixed


def test_a_webhook_host_that_resolves_to_a_private_address_is_refused(
    api: ApiClient, mixed: dict[str, Any], name_server: ServeNames
) -> None:
    name_server(lambda name: Records(["10.0.0.1"]))

    assert_envelope(retry(api, mixed, webhook_url="https://inside.example.com/"), 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert read(api, mixed) == mixed


def test_another_workspace_id_in_the_body_is_refused(api: ApiClient, owner: User, mixed: dict[str, Any]) -> None:
    other = WorkspaceFactory(owner_user=owner)

    refused = assert_envelope(retry(as_user(owner), mixed, workspace_id=other.id), 422, "VALIDATION_FAILED")

    assert refused["details"][0]["field"] == "workspace_id"
    assert retry(as_user(owner), mixed, workspace_id=mixed["workspace_id"]).status_code == 200
    assert AuditEntry.objects.get(operation="posts.retry", outcome="succeeded").workspace_id == mixed["workspace_id"]


def test_a_preview_shows_the_resulting_group(api: ApiClient, mixed: dict[str, Any]) -> None:
    fields = {"scheduled_at": TOMORROW, "webhook_url": "https://hooks.example.com/new", "include_unconfirmed": True}
    preview = retry(api, mixed, **fields, dry_run=True).json()
    assert (preview["operation"], preview["request"]) == ("posts.retry", fields)
    assert read(api, mixed) == mixed

    retried = retry(api, mixed, **fields).json()["post_group"]

    assert {**preview["would_update"], "updated_at": ""} == {**retried, "updated_at": ""}


def test_a_failed_target_is_charged_again(
    api: ApiClient, workspace: Workspace, rejected: dict[str, Any], scripted: type[ScriptedPlatform]
) -> None:
    month = MonthCounter.objects.get(holder_id=workspace.id)
    assert (rejected["cost_cents"], month.held_cents, month.settled_cents) == (0, 0, 0)

    assert retry(api, rejected).json()["post_group"]["cost_cents"] == 1
    assert MonthCounter.objects.get().held_cents == 1
    run_until_idle()

    assert (read(api, rejected)["status"], len(scripted.sent)) == ("published", 2)
    month.refresh_from_db()
    assert (month.held_cents, month.settled_cents) == (0, 1)
    assert billing.find_wrong_month_counters() == []


def test_a_retry_that_exceeds_a_cap_is_refused(api: ApiClient, rejected: dict[str, Any]) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)

    for dry_run in (True, False):
        assert_envelope(retry(api, rejected, dry_run=dry_run), 402, "SPEND_CAP_EXCEEDED")
    assert read(api, rejected) == rejected
    assert run_until_idle() == 0


def test_a_target_whose_money_is_held_is_not_charged_again(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=1)
    with monkeypatch.context() as patch:
        patch.setattr(scripted, "send", staticmethod(lambda content: 1 / 0))  # nobody knows what came of it
        group = create(api, telegram_account)
        run_until_idle()

    for dry_run in (True, False):
        assert retry(api, group, include_unconfirmed=True, dry_run=dry_run).status_code == 200
    run_until_idle()

    month = MonthCounter.objects.get()
    assert (read(api, group)["status"], month.held_cents, month.settled_cents) == ("published", 0, 1)
    assert billing.find_wrong_month_counters() == []


def test_the_caps_of_the_retrying_agent_apply(
    api: ApiClient, agent_client: Any, workspace: Workspace, rejected: dict[str, Any]
) -> None:
    poor = agent_client(monthly_spend_cap_cents=0)
    for dry_run in (True, False):
        assert_envelope(retry(poor, rejected, dry_run=dry_run), 402, "SPEND_CAP_EXCEEDED")

    assert retry(agent_client(posts_per_day_cap=1), rejected).status_code == 200
    assert DayCounter.objects.get().targets == 1
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("mode", ["draft", "requires_confirmation"])
def test_an_agent_that_may_not_publish_alone_cannot_retry(agent_client: Any, mixed: dict[str, Any], mode: str) -> None:
    assert_envelope(retry(agent_client(default_mode=mode), mixed), 403, "AGENT_MODE_FORBIDS")


def test_an_agent_in_dry_run_mode_can_preview_a_retry(api: ApiClient, agent_client: Any, mixed: dict[str, Any]) -> None:
    client = agent_client(default_mode="dry_run")

    assert retry(client, mixed).json()["dry_run"] is True
    assert_envelope(retry(client, mixed, dry_run=False), 403, "AGENT_MODE_FORBIDS")
    assert read(api, mixed) == mixed


def test_an_agent_retries_only_a_group_all_of_whose_accounts_it_may_use(
    api: ApiClient, agent_client: Any, accounts: list[ConnectedAccount], mixed: dict[str, Any]
) -> None:
    narrow = agent_client(account_allowlist=[accounts[0].id])

    for fields in ({}, {"include_unconfirmed": True}, {"dry_run": True}):
        assert_envelope(retry(narrow, mixed, **fields), 403, "ACCOUNT_NOT_ALLOWED")
    assert read(api, mixed) == mixed
    assert retry(agent_client(account_allowlist=[each.id for each in accounts]), mixed).status_code == 200


def test_retrying_needs_its_scope(key_with: Any, mixed: dict[str, Any]) -> None:
    assert_envelope(retry(key_with("posts.schedule", "posts.draft"), mixed), 403, "SCOPE_MISSING")


def test_a_retry_with_wait_returns_the_outcome(api: ApiClient, mixed: dict[str, Any], settings: Any) -> None:
    settings.WAIT_SECONDS = 0

    assert retry(api, mixed, wait=True).json()["post_group"]["status"] == "publishing"


def test_a_round_begins_with_a_first_attempt(
    api: ApiClient, scripted: type[ScriptedPlatform], rejected: dict[str, Any]
) -> None:
    retry(api, rejected)
    run_until_idle()

    assert [content.attempt for content in scripted.sent] == [1, 1]
    assert {content.key for content in scripted.sent} == {rejected["targets"][0]["id"]}
    assert publish_content(scripted.sent[1]).external_id == read(api, rejected)["targets"][0]["external_id"]
