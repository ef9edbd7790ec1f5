"""POST /posts/{id}/confirm: a person approves the version they have read."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import DayCounter, LedgerEntry, MonthCounter
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.posts.calls import confirm, group_in, patch
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, events_of, kinds_of, read
from workspaces.models import User, Workspace

WAITS = {"default_mode": "requires_confirmation"}
NOW = "2027-03-10T12:00:00Z"


@pytest.mark.parametrize(
    ("made", "asked", "status", "scheduled_at"),
    [
        ({}, {}, "publishing", None),
        ({"scheduled_at": TOMORROW}, {}, "scheduled", TOMORROW),
        ({}, {"scheduled_at": TOMORROW}, "scheduled", TOMORROW),
        ({"scheduled_at": TOMORROW}, {"scheduled_at": "2027-03-12T13:00:00+01:00"}, "scheduled", "2027-03-12T12:00:00Z"),
    ],
)
@pytest.mark.parametrize("kind", ["draft", "pending_confirmation"])
def test_a_confirmed_group_is_published_at_its_time(
    owner: User,
    agent_client: Any,
    api: ApiClient,
    accounts: list[ConnectedAccount],
    clock: Any,
    kind: str,
    made: dict[str, Any],
    asked: dict[str, Any],
    status: str,
    scheduled_at: str | None,
) -> None:
    agent = agent_client(**WAITS)
    group = create(agent, *accounts, **made, **({"draft": True} if kind == "draft" else {}))
    assert (group["status"], group["content_version"]) == (kind, 1)
    preview = confirm(as_user(owner), group, **asked, dry_run=True).json()
    assert (read(api, group), kinds_of(group)) == (group, [] if kind == "draft" else [f"post.{kind}"])

    released = group_in(confirm(as_user(owner), group, **asked))

    assert (released["status"], released["scheduled_at"], released["content_version"]) == (status, scheduled_at, 1)
    assert {each["next_attempt_at"] for each in released["targets"]} == {scheduled_at or NOW}
    assert released == read(api, group) == preview["would_update"]
    parts = {"dry_run", "operation", "request", "plan_hash", "would_update"}
    assert (preview["operation"], set(preview)) == ("posts.confirm", parts)
    earlier = [] if kind == "draft" else ["post.pending_confirmation"]
    assert kinds_of(group) == [*earlier, "post.confirmed", *(["post.scheduled"] if scheduled_at else [])]
    assert events_of(group)[-1]["data"]["post_group"] == released
    clock.move_to(scheduled_at or NOW)
    assert run_until_idle() == 3
    assert read(api, group)["status"] == "published"


def test_the_response_equals_a_later_read(api: ApiClient, account: ConnectedAccount) -> None:
    """With a running clock."""
    group = create(api, account, draft=True)

    assert group_in(confirm(api, group)) == read(api, group)


def test_a_passed_time_means_now_and_needs_the_publish_scope(
    api: ApiClient, key_with: Any, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, draft=True, scheduled_at=TOMORROW)
    clock.move_to("2027-03-15T12:00:00Z")

    assert_envelope(confirm(key_with("posts.schedule"), group), 403, "SCOPE_MISSING")
    released = group_in(confirm(key_with("posts.publish"), group))

    assert (released["status"], released["scheduled_at"]) == ("publishing", None)
    assert run_until_idle() == 1
    assert read(api, group)["status"] == "published"


def test_the_money_is_held_under_the_caps_of_the_agent_that_posted(
    api: ApiClient, agent_client: Any, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS, monthly_spend_cap_cents=1, posts_per_day_cap=5)
    first, second = (create(agent, telegram_account, text=text) for text in ("One", "Two"))
    assert not LedgerEntry.objects.exists()

    group_in(confirm(api, first, scheduled_at="2027-04-02T12:00:00Z"))

    april = {row.holder_id: (row.month.month, row.held_cents) for row in MonthCounter.objects.all()}
    assert april == {workspace.id: (4, 1), first["created_by"]["actor_id"]: (4, 1)}
    assert [(row.day.isoformat(), row.targets) for row in DayCounter.objects.all()] == [("2027-04-02", 1)]
    for dry_run in (True, False):
        answer = confirm(api, second, scheduled_at="2027-04-03T12:00:00Z", dry_run=dry_run, key="k")
        assert_envelope(answer, 402, "SPEND_CAP_EXCEEDED")
    assert read(api, second) == second
    assert kinds_of(second) == ["post.pending_confirmation"]
    group_in(confirm(api, second, key="k"))  # there is room in March
    run_until_idle()
    assert MonthCounter.objects.get(holder_id=workspace.id, month="2027-03-01").settled_cents == 1
    assert billing.find_wrong_month_counters() == []


def test_a_dry_run_writes_an_audit_entry_only(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> None:
    group = create(api, telegram_account, draft=True)
    AuditEntry.objects.all().delete()

    preview = confirm(api, group, scheduled_at=TOMORROW, dry_run=True, key="k").json()

    assert preview["request"] == {"content_version": 1, "scheduled_at": TOMORROW}
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.all()] == [("posts.confirm", True)]
    assert (read(api, group), kinds_of(group)) == (group, [])
    assert not LedgerEntry.objects.exists()
    assert "idempotency-replayed" not in confirm(api, group, key="k")


def test_a_repeated_call_with_its_key_is_replayed(api: ApiClient, telegram_account: ConnectedAccount) -> None:
    group = create(api, telegram_account, draft=True)
    confirm(api, group, key="k")
    run_until_idle()

    again = confirm(api, group, key="k")

    assert (group_in(again), again["idempotency-replayed"]) == (read(api, group), "true")
    assert kinds_of(group) == ["post.confirmed", "post.published"]
    assert LedgerEntry.objects.filter(kind="hold").count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_confirmations_release_the_group_once(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, draft=True)

    statuses = in_threads(10, lambda n: confirm(api, group, scheduled_at=TOMORROW).status_code)

    assert sorted(statuses) == [200] + [409] * 9
    assert kinds_of(group) == ["post.confirmed", "post.scheduled"]
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1
    assert billing.find_wrong_month_counters() == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_confirmation_and_edit_release_only_the_version_read(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS)
    for _ in range(10):
        group = create(agent, account, text="Read")

        def race(n: int, group: dict[str, Any] = group) -> int:
            answer = confirm(api, group) if n else patch(agent, group, text="Unread")
            return int(answer.status_code)

        edited, released = in_threads(2, race)

        row = PostGroup.objects.get(pk=group["id"])
        assert {edited, released} <= {200, 409}
        # An edit after the confirmation takes the group back: it has not begun.
        assert (row.status, row.text) == (("pending_confirmation", "Unread") if edited == 200 else ("publishing", "Read"))


def test_a_draft_with_a_time_is_a_plan_until_it_is_confirmed(
    key_with: Any, api: ApiClient, telegram_account: ConnectedAccount, clock: Any
) -> None:
    drafter = key_with("posts.draft")
    body = body_for(telegram_account, draft=True, scheduled_at=TOMORROW)
    preview = drafter.post("/posts", {**body, "dry_run": True}).json()
    group = drafter.post("/posts", body).json()["post_group"]

    assert (preview["would_create"]["status"], preview["spend_cap"]["reserved_cents"]) == ("draft", 0)
    assert (group["status"], group["scheduled_at"], group["targets"][0]["next_attempt_at"]) == ("draft", TOMORROW, None)
    assert (kinds_of(group), LedgerEntry.objects.count()) == ([], 0)
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0
    clock.move_to(NOW)
    assert group_in(confirm(key_with("posts.schedule"), group))["scheduled_at"] == TOMORROW
    clock.move_to(TOMORROW)
    assert run_until_idle() == 1
    assert read(api, group)["status"] == "published"
