"""PATCH /posts/{id}: editing drafts, scheduled groups and groups awaiting confirmation."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import MonthCounter
from config.jobs.claims import claim_due
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.conftest import ApiClient
from tests.posts.calls import group_in, patch, targets_for
from tests.posts.publishing.worker import publish_claimed, run_until_idle
from tests.posts.rows import TOMORROW, create, events_of, kinds_of, read
from tests.posts.scripted_platform import ScriptedPlatform

WAITS = {"default_mode": "requires_confirmation"}
LATER, APRIL = "2027-03-12T12:00:00Z", "2027-04-02T12:00:00Z"


@pytest.mark.parametrize(
    ("made", "status"), [({"draft": True}, "draft"), ({"scheduled_at": TOMORROW}, "scheduled"), ({}, "pending_confirmation")]
)
@pytest.mark.parametrize("changes", [{"text": "Better"}, {"targets": True}, {"scheduled_at": LATER}, {"media": []}, {}])
def test_an_edit_raises_the_version_and_equals_its_dry_run(
    api: ApiClient,
    agent_client: Any,
    accounts: list[ConnectedAccount],
    clock: Any,
    made: dict[str, Any],
    status: str,
    changes: dict[str, Any],
) -> None:
    group = create(agent_client(**WAITS) if status == "pending_confirmation" else api, *accounts[:2], **made)
    changes = {**changes, **({"targets": targets_for(*accounts[1::-1], text="Own")} if "targets" in changes else {})}
    clock.shift(60)
    kinds = kinds_of(group)
    preview = patch(api, group, **changes, dry_run=True).json()
    assert (read(api, group), kinds_of(group)) == (group, kinds)

    edited = group_in(patch(api, group, **changes))

    assert (edited["status"], edited["content_version"]) == (status, 2)
    assert (edited["created_at"], edited["updated_at"]) == (group["created_at"], "2027-03-10T12:01:00Z")
    assert edited == read(api, group)
    assert (preview["operation"], preview["would_update"]) == ("posts.update", edited)
    unnamed = {"text", "media", "scheduled_at", "targets", "metadata", "webhook_url", "created_by"} - set(changes)
    unnamed -= {"targets"} if "scheduled_at" in changes else set()
    assert {name: edited[name] for name in unnamed} == {name: group[name] for name in unnamed}


def test_targets_retain_their_ids_while_their_account_stays(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, *accounts[:2], scheduled_at=TOMORROW)
    ids = {target["connected_account_id"]: target["id"] for target in group["targets"]}
    wanted = [*targets_for(accounts[2]), *targets_for(accounts[0], text="Own", options={})]

    edited = group_in(patch(api, group, targets=wanted))

    added, existing = edited["targets"]
    assert (added["connected_account_id"], added["id"] in ids.values()) == (accounts[2].id, False)
    assert (existing["id"], existing["text"]) == (ids[accounts[0].id], "Own")
    assert {target["next_attempt_at"] for target in edited["targets"]} == {TOMORROW}
    assert PostTarget.objects.count() == 2
    clock.move_to(TOMORROW)
    assert run_until_idle() == 2
    assert {target["status"] for target in read(api, group)["targets"]} == {"published"}


def test_the_edited_content_is_published(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account, text="First", scheduled_at=TOMORROW)
    patch(api, group, text="Second", scheduled_at=LATER)
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0
    clock.move_to(LATER)
    assert run_until_idle() == 1

    assert [content.text for content in scripted.sent] == ["Second"]
    month = MonthCounter.objects.get()
    assert (read(api, group)["status"], month.held_cents, month.settled_cents) == ("published", 0, 1)
    assert billing.find_wrong_month_counters() == []


def test_rescheduling_emits_an_event_and_other_edits_do_not(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    patch(api, group, text="Better")
    patch(api, group, scheduled_at=TOMORROW)
    assert kinds_of(group) == ["post.scheduled"]

    moved = group_in(patch(api, group, scheduled_at=LATER))

    assert kinds_of(group) == ["post.scheduled", "post.scheduled"]
    assert events_of(group)[-1]["data"] == {"post_group": moved}
    assert (moved["content_version"], moved["targets"][0]["next_attempt_at"]) == (4, LATER)


def test_a_worker_whose_claim_expired_publishes_nothing_of_an_edited_group(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at="2027-03-10T12:00:00Z")
    [claimed] = claim_due(PostTarget.objects.all(), limit=1, lease=LEASE)
    clock.shift(LEASE)
    group_in(patch(api, group, scheduled_at=TOMORROW))

    publish_claimed(claimed)

    assert scripted.sent == []
    assert read(api, group)["status"] == "scheduled"


@pytest.mark.parametrize("made", [{}, {"draft": True}])
def test_the_time_of_a_draft_can_be_set_and_removed(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any, made: dict[str, Any]
) -> None:
    group = create(agent_client(**WAITS), account, **made)

    assert group_in(patch(api, group, scheduled_at="2027-03-11T13:00:00+01:00"))["scheduled_at"] == TOMORROW
    assert group_in(patch(api, group, scheduled_at=None))["scheduled_at"] is None
    assert read(api, group)["status"] == group["status"]


def test_the_audit_entry_names_the_fields_and_not_their_content(
    api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, draft=True)

    patch(api, group, text="Confidential", scheduled_at=TOMORROW)

    entry = AuditEntry.objects.get(operation="posts.update")
    assert entry.metadata == {"fields": ["scheduled_at", "text"], "content_version": 2}


def test_a_repeated_call_with_its_key_is_replayed(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)
    patch(api, group, text="Second", key="k")
    patch(api, group, text="Third")

    again = patch(api, group, text="Second", key="k")

    assert again["idempotency-replayed"] == "true"
    assert group_in(again) == read(api, group)
    assert (group_in(again)["text"], group_in(again)["content_version"]) == ("Third", 3)
