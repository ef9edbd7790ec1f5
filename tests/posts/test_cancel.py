"""DELETE /posts/{id}: targets that have not started are cancelled and their money is released."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.types import Content, Published
from billing import selectors as billing
from billing.models import LedgerEntry, MonthCounter
from config.jobs.claims import claim_due
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import publish_claimed, run_until_idle
from tests.posts.rows import NOON, TOMORROW, create, events_of, kinds_of, read, the_target
from tests.posts.scripted_platform import ScriptedPlatform
from workspaces.models import Workspace


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [({"scheduled_at": TOMORROW}, ["post.scheduled", "post.cancelled"]), ({"draft": True}, ["post.cancelled"])],
)
def test_a_group_that_has_not_started_is_cancelled(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any, fields: dict[str, Any], kinds: list[str]
) -> None:
    group = create(api, *accounts, **fields)

    answer = api.delete(f"/posts/{group['id']}")

    cancelled = answer.json()["post_group"]
    assert (answer.status_code, cancelled["status"], cancelled["cost_cents"]) == (200, "cancelled", 0)
    assert cancelled["finished_at"] == "2027-03-10T12:00:00Z"
    assert {(each["status"], each["next_attempt_at"]) for each in cancelled["targets"]} == {("cancelled", None)}
    assert cancelled == read(api, group)
    assert kinds_of(group) == kinds
    assert events_of(group)[-1]["data"]["post_group"] == cancelled
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0


def test_a_group_awaiting_confirmation_is_cancelled(agent_client: Any, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(agent_client(default_mode="requires_confirmation"), account)

    assert api.delete(f"/posts/{group['id']}").json()["post_group"]["status"] == "cancelled"
    assert kinds_of(group) == ["post.pending_confirmation", "post.cancelled"]


def test_an_agent_cancels_only_a_group_all_of_whose_accounts_it_may_use(
    api: ApiClient, agent_client: Any, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, *accounts[:2], scheduled_at=TOMORROW)
    narrow = agent_client(account_allowlist=[accounts[0].id])

    for query in ("", "?dry_run=true"):
        assert_envelope(narrow.delete(f"/posts/{group['id']}{query}"), 403, "ACCOUNT_NOT_ALLOWED")
    assert read(api, group) == group
    wide = agent_client(account_allowlist=[each.id for each in accounts[:2]])
    assert wide.delete(f"/posts/{group['id']}").json()["post_group"]["status"] == "cancelled"


def test_cancelling_releases_the_money(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1

    api.delete(f"/posts/{group['id']}")

    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 0
    assert list(LedgerEntry.objects.order_by("id").values_list("kind", flat=True)) == ["hold", "release"]
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("text", ["Hello", "[sandbox:reject]", "[sandbox:unknown]", "[sandbox:outage]"])
def test_a_started_group_cannot_be_cancelled(api: ApiClient, account: ConnectedAccount, text: str) -> None:
    group = create(api, account, text=text)
    run_until_idle()
    before = read(api, group)

    assert_envelope(api.delete(f"/posts/{group['id']}"), 409, "INVALID_STATE")
    assert_envelope(api.delete(f"/posts/{group['id']}?dry_run=true"), 409, "INVALID_STATE")
    assert read(api, group) == before


def test_cancelling_twice_is_refused(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    path = f"/posts/{create(api, account, scheduled_at=TOMORROW)['id']}"
    api.delete(path)

    assert_envelope(api.delete(path), 409, "INVALID_STATE")


def test_a_claimed_target_is_published_and_the_others_are_cancelled(
    api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, *accounts, scheduled_at=NOON.isoformat())
    [claimed] = claim_due(PostTarget.objects.filter(platform=accounts[0].platform), limit=1, lease=LEASE)

    cancelled = api.delete(f"/posts/{group['id']}").json()["post_group"]

    assert (cancelled["status"], cancelled["finished_at"]) == ("scheduled", None)
    assert [target["status"] for target in cancelled["targets"]] == ["pending", "cancelled", "cancelled"]
    assert kinds_of(group) == ["post.scheduled"]
    publish_claimed(claimed)
    assert (read(api, group)["status"], run_until_idle()) == ("published", 0)
    assert kinds_of(group) == ["post.scheduled", "post.target.published", "post.published"]


def test_a_worker_whose_claim_expired_cannot_publish_a_cancelled_group(
    api: ApiClient, telegram_account: ConnectedAccount, clock: Any, scripted: type[ScriptedPlatform]
) -> None:
    group = create(api, telegram_account, scheduled_at=NOON.isoformat())
    [claimed] = claim_due(PostTarget.objects.all(), limit=1, lease=LEASE)
    clock.shift(LEASE)
    assert api.delete(f"/posts/{group['id']}").status_code == 200

    publish_claimed(claimed)

    assert scripted.sent == []
    assert read(api, group)["status"] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_concurrent_cancelling_and_publishing_have_one_winner(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform]
) -> None:
    for _ in range(20):
        group = create(api, telegram_account, scheduled_at=timezone.now().isoformat())
        scripted.sent.clear()

        def race(n: int, path: str = f"/posts/{group['id']}") -> int:
            return run_until_idle() if n else int(api.delete(path).status_code)

        status, published = in_threads(2, race)

        ended = read(api, group)
        if status == 200:
            assert (ended["status"], len(scripted.sent)) == ("cancelled", 0)
            assert kinds_of(group) == ["post.scheduled", "post.cancelled"]
        else:
            assert (status, published, ended["status"], len(scripted.sent)) == (409, 1, "published", 1)
            assert kinds_of(group) == ["post.scheduled", "post.published"]
    assert billing.find_wrong_month_counters() == []
    assert MonthCounter.objects.get().held_cents == 0


@pytest.mark.django_db(transaction=True)
def test_concurrent_cancellations_cancel_once(api: ApiClient, telegram_account: ConnectedAccount) -> None:
    group = create(api, telegram_account, scheduled_at=(timezone.now() + timedelta(days=1)).isoformat())

    statuses = in_threads(10, lambda n: api.delete(f"/posts/{group['id']}").status_code)

    assert sorted(statuses) == [200] + [409] * 9
    assert kinds_of(group) == ["post.scheduled", "post.cancelled"]
    assert billing.find_wrong_month_counters() == []


def test_a_cancelled_retry_leaves_published_targets_published(
    api: ApiClient, telegram_account: ConnectedAccount, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, telegram_account, text="[sandbox:reject]")
    run_until_idle()
    assert read(api, group)["status"] == "partial"
    api.post(f"/posts/{group['id']}/retry", {"scheduled_at": TOMORROW})

    preview = api.delete(f"/posts/{group['id']}?dry_run=true").json()["would_update"]
    cancelled = api.delete(f"/posts/{group['id']}").json()["post_group"]

    assert (cancelled["status"], cancelled["cost_cents"]) == ("published", 1)
    assert [target["status"] for target in cancelled["targets"]] == ["cancelled", "published"]
    assert {**preview, "updated_at": ""} == {**cancelled, "updated_at": ""}
    assert kinds_of(group)[-2:] == ["post.scheduled", "post.cancelled"]
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0


def test_a_cancelled_retry_retains_the_hold_of_possibly_published_targets(
    api: ApiClient,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    bluesky_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
    clock: Any,
) -> None:
    monkeypatch.setattr(scripted, "send", staticmethod(lambda content: 1 / 0))  # nobody knows what came of it
    group = create(api, telegram_account, bluesky_account)
    ConnectedAccount.objects.filter(pk=bluesky_account.pk).update(status="needs_reauth")
    run_until_idle()
    assert [target["status"] for target in read(api, group)["targets"]] == ["unconfirmed", "failed"]
    api.post(f"/posts/{group['id']}/retry", {"scheduled_at": TOMORROW})
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 2

    cancelled = api.delete(f"/posts/{group['id']}").json()["post_group"]

    assert cancelled["status"] == "unconfirmed"
    assert [target["status"] for target in cancelled["targets"]] == ["unconfirmed", "cancelled"]
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize(
    ("fields", "scope", "status"),
    [
        ({"draft": True}, "posts.draft", 200),
        ({"draft": True}, "posts.schedule", 403),
        ({"scheduled_at": TOMORROW}, "posts.schedule", 200),
        ({"scheduled_at": TOMORROW}, "posts.draft", 403),
        ({"scheduled_at": TOMORROW}, "posts.publish", 403),
    ],
)
def test_the_scope_depends_on_what_is_cancelled(
    api: ApiClient, key_with: Any, account: ConnectedAccount, clock: Any, fields: dict[str, Any], scope: str, status: int
) -> None:
    group = create(api, account, **fields)

    assert key_with(scope).delete(f"/posts/{group['id']}").status_code == status


def test_a_repeated_call_with_its_key_is_replayed(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    first = api.delete(f"/posts/{group['id']}", idempotency_key="k")

    again = api.delete(f"/posts/{group['id']}", idempotency_key="k")

    assert (again.status_code, again.json(), again["idempotency-replayed"]) == (200, first.json(), "true")
    assert kinds_of(group) == ["post.scheduled", "post.cancelled"]
    assert the_target(group).status == "cancelled"


def test_a_cancelled_retry_of_an_unconfirmed_target_keeps_it_unconfirmed_and_held(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    def no_answer(content: Content) -> Published:
        raise OutcomeUnknown("The server closed the connection.")

    scripted.send = staticmethod(no_answer)
    group = create(api, telegram_account)
    run_until_idle()
    api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True, "scheduled_at": TOMORROW})

    preview = api.delete(f"/posts/{group['id']}?dry_run=true").json()["would_update"]
    cancelled = api.delete(f"/posts/{group['id']}").json()["post_group"]

    [target] = cancelled["targets"]
    assert (cancelled["status"], target["status"], preview["status"]) == ("unconfirmed", "unconfirmed", "unconfirmed")
    assert (target["error"]["code"], target["next_attempt_at"]) == ("PUBLISH_OUTCOME_UNKNOWN", None)
    assert MonthCounter.objects.get().held_cents == 1
    assert billing.find_wrong_month_counters() == []
    clock.move_to(TOMORROW)
    assert (run_until_idle(), len(scripted.sent)) == (0, 1)
