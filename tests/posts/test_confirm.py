"""POST /posts/{id}/confirm: a person releases what they have read."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import DayCounter, LedgerEntry, MonthCounter
from posts.models import PostGroup
from posts.publishing.duty import publish_due
from tests.at_once import at_once
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.rows import TOMORROW, body_for, create, events_of, kinds_of, read
from workspaces.models import User, Workspace

WAITS = {"default_mode": "requires_confirmation"}
NOW = "2027-03-10T12:00:00Z"


def confirm(client: ApiClient, group: dict[str, Any], version: int = 1, key: str | None = None, **fields: Any) -> Any:
    headers = {"idempotency_key": key} if key else {}
    return client.post(f"/posts/{group['id']}/confirm", {"content_version": version, **fields}, **headers)


def confirmed(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    return dict(answer.json()["post_group"])


@pytest.mark.parametrize(
    ("made", "asked", "status", "scheduled_at"),
    [
        ({}, {}, "publishing", None),
        ({"scheduled_at": TOMORROW}, {}, "scheduled", TOMORROW),
        ({}, {"scheduled_at": TOMORROW}, "scheduled", TOMORROW),
        (
            {"scheduled_at": TOMORROW},
            {"scheduled_at": "2027-03-12T13:00:00+01:00"},
            "scheduled",
            "2027-03-12T12:00:00Z",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["draft", "pending_confirmation"])
def test_a_group_is_released_at_its_time(
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

    released = confirmed(confirm(as_user(owner), group, **asked))

    assert (released["status"], released["scheduled_at"], released["content_version"]) == (status, scheduled_at, 1)
    assert {each["next_attempt_at"] for each in released["targets"]} == {scheduled_at or NOW}
    assert released == read(api, group) == preview["would_update"]
    assert (preview["operation"], set(preview)) == (
        "posts.confirm",
        {"dry_run", "operation", "request", "would_update"},
    )
    told = [] if kind == "draft" else ["post.pending_confirmation"]
    assert kinds_of(group) == [*told, "post.confirmed", *(["post.scheduled"] if scheduled_at else [])]
    assert events_of(group)[-1]["data"]["post_group"] == released
    clock.move_to(scheduled_at or NOW)
    assert publish_due() == 3
    assert read(api, group)["status"] == "published"


def test_the_answer_is_what_reads_show_afterwards(api: ApiClient, account: ConnectedAccount) -> None:
    """With a clock that goes on."""
    group = create(api, account, draft=True)

    assert confirmed(confirm(api, group)) == read(api, group)


def test_a_time_that_has_passed_means_now_and_needs_the_right_to_publish(
    api: ApiClient, key_with: Any, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, draft=True, scheduled_at=TOMORROW)
    clock.move_to("2027-03-15T12:00:00Z")

    assert_envelope(confirm(key_with("posts.schedule"), group), 403, "SCOPE_MISSING")
    released = confirmed(confirm(key_with("posts.publish"), group))

    assert (released["status"], released["scheduled_at"]) == ("publishing", None)
    assert publish_due() == 1
    assert read(api, group)["status"] == "published"


def test_what_was_not_read_is_not_confirmed(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS)
    group = create(agent, account)
    agent.request("PATCH", f"/posts/{group['id']}", {"text": "Something else"})
    before = read(api, group)
    assert before["content_version"] == 2

    for version in (1, 3):
        for dry_run in (True, False):
            assert_envelope(confirm(api, group, version, dry_run=dry_run), 409, "CONFLICT")
    assert read(api, group) == before
    assert confirmed(confirm(api, group, 2))["status"] == "publishing"


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
def test_what_is_not_right_is_refused(
    api: ApiClient, account: ConnectedAccount, clock: Any, fields: dict[str, Any], name: str
) -> None:
    group = create(api, account, draft=True)

    answer = api.post(f"/posts/{group['id']}/confirm", {"content_version": 1, **fields})

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [name]
    assert_envelope(api.post(f"/posts/{group['id']}/confirm"), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize("state", ["scheduled", "publishing", "published", "cancelled", "rejected"])
def test_only_what_waits_is_confirmed(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any, state: str
) -> None:
    client = agent_client(**WAITS) if state in ("cancelled", "rejected") else api
    group = create(client, account, **({"scheduled_at": TOMORROW} if state == "scheduled" else {}))
    if state == "published":
        publish_due()
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
def test_a_key_needs_the_scope_of_what_it_sets_going(
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


def test_the_money_is_held_under_the_caps_of_the_agent_that_posted(
    api: ApiClient, agent_client: Any, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS, monthly_spend_cap_cents=1, posts_per_day_cap=5)
    first, second = (create(agent, telegram_account, text=text) for text in ("One", "Two"))
    assert not LedgerEntry.objects.exists()

    confirmed(confirm(api, first, scheduled_at="2027-04-02T12:00:00Z"))

    april = {row.holder_id: (row.month.month, row.held_cents) for row in MonthCounter.objects.all()}
    assert april == {workspace.id: (4, 1), first["created_by"]["actor_id"]: (4, 1)}
    assert [(row.day.isoformat(), row.targets) for row in DayCounter.objects.all()] == [("2027-04-02", 1)]
    for dry_run in (True, False):
        answer = confirm(api, second, scheduled_at="2027-04-03T12:00:00Z", dry_run=dry_run, key="k")
        assert_envelope(answer, 402, "SPEND_CAP_EXCEEDED")
    assert read(api, second) == second
    assert kinds_of(second) == ["post.pending_confirmation"]
    confirmed(confirm(api, second, key="k"))  # there is room in March
    publish_due()
    assert MonthCounter.objects.get(holder_id=workspace.id, month="2027-03-01").settled_cents == 1
    assert billing.drift() == []


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


def test_a_dry_run_writes_an_audit_entry_only(api: ApiClient, telegram_account: ConnectedAccount, clock: Any) -> None:
    group = create(api, telegram_account, draft=True)
    AuditEntry.objects.all().delete()

    told = confirm(api, group, scheduled_at=TOMORROW, dry_run=True, key="k").json()

    assert told["request"] == {"content_version": 1, "scheduled_at": TOMORROW}
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.all()] == [("posts.confirm", True)]
    assert (read(api, group), kinds_of(group)) == (group, [])
    assert not LedgerEntry.objects.exists()
    assert "idempotency-replayed" not in confirm(api, group, key="k")


def test_a_repeated_call_with_its_key_is_replayed(api: ApiClient, telegram_account: ConnectedAccount) -> None:
    group = create(api, telegram_account, draft=True)
    confirm(api, group, key="k")
    publish_due()

    again = confirm(api, group, key="k")

    assert (confirmed(again), again["idempotency-replayed"]) == (read(api, group), "true")
    assert kinds_of(group) == ["post.confirmed", "post.published"]
    assert LedgerEntry.objects.filter(kind="hold").count() == 1


@pytest.mark.django_db(transaction=True)
def test_confirmations_at_once_release_once(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, draft=True)

    statuses = at_once(10, lambda n: confirm(api, group, scheduled_at=TOMORROW).status_code)

    assert sorted(statuses) == [200] + [409] * 9
    assert kinds_of(group) == ["post.confirmed", "post.scheduled"]
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1
    assert billing.drift() == []


@pytest.mark.django_db(transaction=True)
def test_confirming_and_editing_at_once_releases_only_what_was_read(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(**WAITS)
    for _ in range(10):
        group = create(agent, account, text="Read")

        def race(n: int, group: dict[str, Any] = group) -> int:
            answer = confirm(api, group) if n else agent.request("PATCH", f"/posts/{group['id']}", {"text": "Unread"})
            return int(answer.status_code)

        edited, released = at_once(2, race)

        row = PostGroup.objects.get(pk=group["id"])
        assert {edited, released} == {200, 409}
        assert (row.status, row.text) == (
            ("publishing", "Read") if released == 200 else ("pending_confirmation", "Unread")
        )


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
    assert publish_due() == 0
    clock.move_to(NOW)
    assert confirmed(confirm(key_with("posts.schedule"), group))["scheduled_at"] == TOMORROW
    clock.move_to(TOMORROW)
    assert publish_due() == 1
    assert read(api, group)["status"] == "published"


@pytest.mark.parametrize("scheduled_at", ["2027-03-10T11:58:59Z", "2028-03-11T12:00:01Z"])
def test_the_time_of_a_draft_has_to_be_one_that_can_come(
    api: ApiClient, account: ConnectedAccount, clock: Any, scheduled_at: str
) -> None:
    answer = api.post("/posts", body_for(account, draft=True, scheduled_at=scheduled_at))

    assert [row["field"] for row in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == ["scheduled_at"]


@pytest.mark.parametrize("status", ["paused", "deleted"])
def test_nothing_is_confirmed_in_a_workspace_that_stands_still(
    api: ApiClient, owner: User, account: ConnectedAccount, status: str
) -> None:
    group = create(api, account, draft=True)
    Workspace.objects.filter(pk=group["workspace_id"]).update(status=status)

    expected = (403, "WORKSPACE_PAUSED") if status == "paused" else (404, "NOT_FOUND")
    assert_envelope(confirm(as_user(owner), group), *expected)
    assert PostGroup.objects.get().status == "draft"
