"""POST /posts/batch: all groups are created, or none."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from config.api import webhook_url
from config.db.ids import new_id
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient, ServeNames
from tests.fakes.name_server import Records, silent
from tests.in_threads import in_threads
from tests.people import as_user
from tests.posts.calls import assert_nothing_written, batch, groups_in
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from webhooks.models import Event
from workspaces.models import User, Workspace

LATER = "2027-04-02T12:00:00Z"


def fields_of(answer: Any, status: int, code: str) -> list[str]:
    return [row["field"] for row in assert_envelope(answer, status, code)["details"]]


def test_groups_are_created_in_the_order_of_the_request(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    made = groups_in(
        batch(
            api,
            body_for(accounts[0], text="Later", scheduled_at=LATER),
            body_for(*accounts, text="Now", metadata={"a": "b"}),
            body_for(accounts[1], text="Tomorrow", scheduled_at=TOMORROW),
            body_for(accounts[2], text="", draft=True, scheduled_at=TOMORROW),
        )
    )

    assert [(group["text"], group["status"]) for group in made] == [
        ("Later", "scheduled"),
        ("Now", "publishing"),
        ("Tomorrow", "scheduled"),
        ("", "draft"),
    ]
    assert made == [read(api, group) for group in made]
    assert [kinds_of(group) for group in made] == [["post.scheduled"], [], ["post.scheduled"], []]
    assert run_until_idle() == 3
    entries = AuditEntry.objects.filter(operation="posts.create_batch", outcome="succeeded", dry_run=False)
    assert set(entries.values_list("resource_id", flat=True)) == {group["id"] for group in made}


@pytest.mark.parametrize(
    ("second", "status", "code", "fields"),
    [
        ({"text": "a" * 301}, 422, "CONTENT_INVALID", ["posts[1].targets[0].text"]),
        ({"text": 1}, 422, "VALIDATION_FAILED", ["posts[1].text"]),
        ({"wait": True}, 422, "VALIDATION_FAILED", ["posts[1].wait"]),
        ({"dry_run": True}, 422, "VALIDATION_FAILED", ["posts[1].dry_run"]),
        ({"targets": []}, 422, "VALIDATION_FAILED", ["posts[1].targets"]),
        ({"targets": [{"platform": "x"}]}, 422, "VALIDATION_FAILED", ["posts[1].targets[0].connected_account_id"]),
        (
            {"targets": [{"platform": "x", "connected_account_id": new_id("acc")}]},
            422,
            "VALIDATION_FAILED",
            ["posts[1].targets[0].connected_account_id"],
        ),
        ({"media": [{"media_id": new_id("med")}]}, 422, "VALIDATION_FAILED", ["posts[1].media[0].media_id"]),
        ({"scheduled_at": "2027-03-10T11:00:00Z"}, 422, "VALIDATION_FAILED", ["posts[1].scheduled_at"]),
        ({"workspace_id": new_id("wrk")}, 422, "VALIDATION_FAILED", ["posts[1].workspace_id"]),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_one_invalid_post_refuses_the_batch_and_is_named(
    api: ApiClient,
    account: ConnectedAccount,
    clock: Any,
    second: dict[str, Any],
    status: int,
    code: str,
    fields: list[str],
    dry_run: bool,
) -> None:
    answer = batch(api, body_for(account), body_for(account) | second, body_for(account), dry_run=dry_run, key="k")

    assert fields_of(answer, status, code) == fields
    assert_nothing_written()


def test_a_repair_hint_names_the_post_of_the_batch(api: ApiClient, account: ConnectedAccount) -> None:
    first, second = body_for(account), body_for(account, text="word " * 90)
    [issue] = assert_envelope(batch(api, first, second), 422, "CONTENT_INVALID")["details"]

    assert issue["repair_hint"]["field"] == issue["field"] == "posts[1].targets[0].text"
    second["targets"][0]["text"] = issue["repair_hint"]["value"]
    assert len(groups_in(batch(api, first, second))) == 2


@pytest.mark.parametrize(("number", "status"), [(0, 422), (100, 201), (101, 422)])
def test_a_batch_has_1_to_100_posts(api: ApiClient, account: ConnectedAccount, number: int, status: int) -> None:
    answer = batch(api, *(body_for(account, draft=True, text=f"{n}") for n in range(number)))

    assert answer.status_code == status
    if status == 201:
        assert [group["text"] for group in groups_in(answer)] == [f"{n}" for n in range(100)]
    else:
        assert fields_of(answer, 422, "VALIDATION_FAILED") == ["posts"]


def test_a_preview_returns_all_plans_and_writes_nothing(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, telegram_account: ConnectedAccount, clock: Any
) -> None:
    posts = [body_for(telegram_account, scheduled_at=TOMORROW), body_for(account, telegram_account, draft=True)]
    answer = batch(api, *posts, dry_run=True, key="k")

    result = answer.json()
    plain: dict[str, Any] = {"text": None, "options": {}, "scheduled_at": None, "slot": False}
    real = {"platform": "telegram", "connected_account_id": telegram_account.id, "cost_cents": 1, **plain}
    sandbox = {"platform": "bluesky", "connected_account_id": account.id, "cost_cents": 0, **plain}
    assert answer.status_code == 201
    assert [each["valid"] for each in result.pop("validations")] == [True, True]
    assert result.pop("request")["workspace_id"] == workspace.id
    assert result.pop("plan_hash").startswith("sha256:")
    assert result == {
        "dry_run": True,
        "operation": "posts.create_batch",
        "would_create": {
            "post_groups": [
                {"status": "scheduled", "targets": [{**real, "scheduled_at": TOMORROW}], "cost_cents": 1},
                {"status": "draft", "targets": [sandbox, real], "cost_cents": 1},
            ],
            "cost_cents": 2,
        },
        "spend_cap": {
            "cap_cents": 0,
            "free_credit_cents": 100,
            "spent_cents": 0,
            "reserved_cents": 1,
            "remaining_cents": 99,
            "exceeded": False,
        },
    }
    assert_nothing_written()
    assert AuditEntry.objects.get().dry_run is True


def test_a_replay_returns_the_groups_current_states(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    posts = [body_for(account, text=account.platform) for account in accounts[::-1]]
    first = groups_in(batch(api, *posts, key="k"))
    run_until_idle()

    again = batch(api, *posts, key="k")

    assert again["idempotency-replayed"] == "true"
    assert groups_in(again) == [read(api, group) for group in first]
    assert {group["status"] for group in groups_in(again)} == {"published"}
    assert PostGroup.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_fifty_concurrent_batches_with_one_key_create_the_groups_once(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    posts = [body_for(telegram_account, text=f"{n}", scheduled_at=at) for n, at in enumerate((LATER, TOMORROW))]

    answers = in_threads(50, lambda n: batch(api, *posts, key="k"))

    shown = [[group["id"] for group in groups_in(answer)] for answer in answers]
    assert all(each == shown[0] for each in shown)
    assert sum("idempotency-replayed" not in answer for answer in answers) == 1
    assert (PostGroup.objects.count(), LedgerEntry.objects.count(), Event.objects.count()) == (2, 2, 2)


@pytest.mark.parametrize(
    ("mode", "fields", "outcome"),
    [
        ("draft", {"draft": True}, "draft"),
        ("draft", {}, "AGENT_MODE_FORBIDS"),
        ("requires_confirmation", {"scheduled_at": TOMORROW}, "pending_confirmation"),
        ("dry_run", {}, "preview"),
    ],
)
def test_the_agents_mode_limits_each_post(
    agent_client: Any, account: ConnectedAccount, clock: Any, mode: str, fields: dict[str, Any], outcome: str
) -> None:
    answer = batch(agent_client(default_mode=mode), body_for(account, draft=True), body_for(account, **fields))

    if outcome == "AGENT_MODE_FORBIDS":
        assert_envelope(answer, 403, outcome)
    elif outcome == "preview":
        assert answer.json()["dry_run"] is True
    else:
        assert [group["status"] for group in groups_in(answer)] == ["draft", outcome]
    assert PostGroup.objects.count() == (0 if outcome in ("AGENT_MODE_FORBIDS", "preview") else 2)


def test_each_post_needs_its_own_scope(
    key_with: Any, account: ConnectedAccount, telegram_account: ConnectedAccount, clock: Any
) -> None:
    client = key_with("posts.draft", "posts.schedule")
    fit = [body_for(telegram_account, draft=True), body_for(account)]

    assert len(groups_in(batch(client, *fit))) == 2
    assert_envelope(batch(client, *fit, body_for(telegram_account)), 403, "SCOPE_MISSING")
    assert_envelope(batch(key_with("posts.read"), *fit), 403, "SCOPE_MISSING")
    assert PostGroup.objects.count() == 2


def test_a_signed_in_user_must_name_the_workspace(
    workspace: Workspace, owner: User, teammate: User, stranger: User, account: ConnectedAccount
) -> None:
    draft = body_for(account, draft=True)

    assert fields_of(batch(as_user(owner), draft), 422, "VALIDATION_FAILED") == ["workspace_id"]
    for person, where in ((stranger, workspace.id), (owner, Workspace.objects.get(owner_user=stranger).id)):
        assert fields_of(batch(as_user(person), draft, workspace_id=where), 422, "VALIDATION_FAILED") == ["workspace_id"]
    assert_envelope(batch(as_user(teammate), draft, workspace_id=workspace.id), 403, "FORBIDDEN")
    named = draft | {"workspace_id": workspace.id}
    assert len(groups_in(batch(as_user(owner), named, draft, workspace_id=workspace.id))) == 2


def test_a_batch_creates_the_same_rows_as_single_calls(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    body = body_for(account, scheduled_at=TOMORROW, webhook_url="https://hooks.example.com/", metadata={"a": "b"})
    single = create(api, account, **{name: body[name] for name in ("scheduled_at", "webhook_url", "metadata")})

    [batched] = groups_in(batch(api, body))

    own = ("id", "trace_id", "plan_hash", "targets")
    assert {**single, **dict.fromkeys(own)} == {**batched, **dict.fromkeys(own)}
    assert {**single["targets"][0], "id": ""} == {**batched["targets"][0], "id": ""}


def drafts_to(account: ConnectedAccount, urls: list[str]) -> list[dict[str, Any]]:
    return [body_for(account, text=url, draft=True, webhook_url=url) for url in urls]


def test_each_webhook_name_of_a_batch_is_looked_up_once(
    api: ApiClient, account: ConnectedAccount, name_server: ServeNames
) -> None:
    server = name_server(lambda name: Records(["93.184.215.14"]))
    urls = [f"https://host-{number % 20}.example.com/{number}" for number in range(40)]

    assert len(groups_in(batch(api, *drafts_to(account, urls)))) == 40
    assert len(server.lookups) == 20


def test_the_webhook_names_of_a_batch_are_looked_up_at_the_same_time(
    api: ApiClient, account: ConnectedAccount, name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake resolver answers only when all names were requested, so sequential lookups would time out."""
    monkeypatch.setattr(webhook_url, "LOOKUP_SECONDS", 30.0)
    name_server(lambda name: Records(["10.0.0.1" if name == "host-0.example.com" else "93.184.215.14"]), together=20)
    urls = [f"https://host-{number}.example.com/" for number in range(20)]

    answer = batch(api, *drafts_to(account, urls))

    assert_envelope(answer, 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert_nothing_written()


def test_webhook_hosts_without_dns_answer_are_accepted_after_one_timeout(
    api: ApiClient, account: ConnectedAccount, name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_url, "LOOKUP_SECONDS", 0.01)
    server = name_server(silent)
    urls = [f"https://silent-{number}.example.com/" for number in range(20)]

    assert len(groups_in(batch(api, *drafts_to(account, urls)))) == 20
    server.wait_for(20)
