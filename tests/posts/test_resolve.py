"""POST /posts/{id}/resolve: a person says whether an unconfirmed target was published."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import MonthCounter, UsageTotal
from config.db.ids import new_id
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, events_of, kinds_of, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from workspaces.models import User, Workspace

LINK = "https://t.me/example/1"
OUT: dict[str, Any] = {"permalink": LINK}
NOT_OUT: dict[str, Any] = {"published": False}


def resolve(client: ApiClient, group: dict[str, Any], index: int = 0, key: str | None = None, **fields: Any) -> Any:
    body = {"target_id": group["targets"][index]["id"], **fields}
    return client.post(f"/posts/{group['id']}/resolve", body, **({"idempotency_key": key} if key else {}))


def resolved(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    return dict(answer.json()["post_group"])


@pytest.fixture
def unconfirmed_post(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """A real post that is unconfirmed; the next attempt would succeed."""
    with monkeypatch.context() as patch:
        patch.setattr(scripted, "send", staticmethod(lambda content: 1 / 0))
        group = create(api, telegram_account)
        run_until_idle()
    clock.shift(60)
    return read(api, group)


def month_of(workspace: Workspace) -> tuple[int, int]:
    row = MonthCounter.objects.get(holder_id=workspace.id)
    return row.held_cents, row.settled_cents


@pytest.mark.parametrize(
    ("said", "status", "month", "usage"),
    [
        (OUT, "published", (0, 1), (1, 0, 1)),
        ({**OUT, "published": True}, "published", (0, 1), (1, 0, 1)),
        (NOT_OUT, "failed", (0, 0), (0, 1, 0)),
    ],
)
def test_the_persons_answer_becomes_the_outcome(
    api: ApiClient,
    workspace: Workspace,
    unconfirmed_post: dict[str, Any],
    said: dict[str, Any],
    status: str,
    month: tuple[int, int],
    usage: tuple[int, int, int],
) -> None:
    assert (unconfirmed_post["status"], unconfirmed_post["cost_cents"], month_of(workspace)) == ("unconfirmed", 1, (1, 0))
    preview = resolve(api, unconfirmed_post, **said, dry_run=True).json()
    assert (read(api, unconfirmed_post), kinds_of(unconfirmed_post), month_of(workspace)) == (
        unconfirmed_post,
        ["post.unconfirmed"],
        (1, 0),
    )

    group = resolved(resolve(api, unconfirmed_post, **said))

    [target] = group["targets"]
    assert (group["status"], target["status"], group["finished_at"]) == (status, status, "2027-03-10T12:01:00Z")
    if status == "published":
        assert (target["permalink"], target["error"], group["cost_cents"]) == (LINK, None, 1)
        assert target["published_at"] == "2027-03-10T12:01:00Z"
    else:
        assert (target["permalink"], target["error"]["code"], group["cost_cents"]) == (None, "PLATFORM_REJECTED", 0)
        preview["would_update"]["targets"][0]["error"]["trace_id"] = target["error"]["trace_id"]
    assert group == read(api, unconfirmed_post)
    assert preview == {
        "dry_run": True,
        "operation": "posts.resolve",
        "request": {"target_id": target["id"], **said},
        "plan_hash": group["plan_hash"],
        "would_update": group,
    }
    assert kinds_of(unconfirmed_post) == ["post.unconfirmed", f"post.{status}"]
    assert events_of(unconfirmed_post)[-1]["data"] == {"post_group": group}
    assert month_of(workspace) == month
    assert list(UsageTotal.objects.values_list("published", "failed", "spend_cents")) == [usage]
    assert billing.find_wrong_month_counters() == []
    entries = AuditEntry.objects.filter(operation="posts.resolve").order_by("id").values_list("dry_run", "metadata")
    metadata = {"target_id": target["id"], "published": status == "published"}
    assert list(entries) == [(True, metadata), (False, metadata)]


def test_a_target_resolved_as_not_published_can_be_retried(
    api: ApiClient, workspace: Workspace, unconfirmed_post: dict[str, Any], scripted: type[ScriptedPlatform]
) -> None:
    resolve(api, unconfirmed_post, **NOT_OUT)

    assert api.post(f"/posts/{unconfirmed_post['id']}/retry").status_code == 200
    assert run_until_idle() == 1

    assert (read(api, unconfirmed_post)["status"], len(scripted.sent), month_of(workspace)) == ("published", 2, (0, 1))
    assert billing.find_wrong_month_counters() == []


def test_resolving_emits_target_events_and_one_group_event(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    group = create(api, *accounts, texts=["[sandbox:unknown]", "Hello", "[sandbox:unknown]"])
    run_until_idle()
    before = len(kinds_of(group))

    assert resolved(resolve(api, group, 0, **OUT))["status"] == "unconfirmed"
    assert kinds_of(group)[before:] == ["post.target.published"]
    assert resolved(resolve(api, group, 2, **NOT_OUT))["status"] == "partial"
    assert kinds_of(group)[before:] == ["post.target.published", "post.target.failed", "post.partial"]
    assert [event["data"].get("target_id") for event in events_of(group)[before:]] == [
        group["targets"][0]["id"],
        group["targets"][2]["id"],
        None,
    ]


def test_resolving_does_not_finish_a_running_group(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    group = create(api, *accounts[:2], texts=["[sandbox:unknown]", "[sandbox:flaky]"])
    run_until_idle()

    running = resolved(resolve(api, group, 0, **OUT))

    assert (running["status"], running["finished_at"]) == ("publishing", None)
    assert kinds_of(group) == ["post.target.unconfirmed", "post.target.published"]
    clock.shift(60)
    run_until_idle()
    assert read(api, group)["status"] == "published"


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "permalink"),
        ({"published": True}, "permalink"),
        ({**OUT, **NOT_OUT}, "permalink"),
        ({"permalink": ""}, "permalink"),
        ({"permalink": None}, "permalink"),
        ({"permalink": "javascript:alert(1)"}, "permalink"),
        ({"permalink": "https://t.me/" + "a" * 2048}, "permalink"),
        ({"published": "false"}, "published"),
        ({"published": None}, "published"),
        ({**OUT, "target_id": new_id("tgt")}, "target_id"),
        ({**OUT, "target_id": "tgt_1"}, "target_id"),
        ({**OUT, "note": "Seen"}, "note"),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_resolution_without_a_clear_answer_is_refused(
    api: ApiClient, unconfirmed_post: dict[str, Any], said: dict[str, Any], field: str, dry_run: bool
) -> None:
    details = assert_envelope(resolve(api, unconfirmed_post, **said, dry_run=dry_run), 422, "VALIDATION_FAILED")["details"]

    assert [row["field"] for row in details] == [field]
    assert read(api, unconfirmed_post) == unconfirmed_post


def test_a_target_of_another_group_is_not_found(
    api: ApiClient, unconfirmed_post: dict[str, Any], account: ConnectedAccount
) -> None:
    other = create(api, account, text="[sandbox:unknown]")
    run_until_idle()

    answer = resolve(api, unconfirmed_post, **OUT, target_id=other["targets"][0]["id"])

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["code"] == "not_found"
    assert read(api, other)["status"] == "unconfirmed"


@pytest.mark.parametrize("text", ["Hello", "[sandbox:reject]", "[sandbox:flaky]"])
def test_only_unconfirmed_targets_can_be_resolved(api: ApiClient, account: ConnectedAccount, text: str) -> None:
    group = create(api, account, text=text)
    for said in (OUT, NOT_OUT):
        for dry_run in (True, False):
            assert_envelope(resolve(api, group, **said, dry_run=dry_run), 409, "INVALID_STATE")
    run_until_idle()
    before = read(api, group)

    assert_envelope(resolve(api, group, **NOT_OUT), 409, "INVALID_STATE")
    assert read(api, group) == before


def test_only_permitted_callers_can_resolve(
    api: ApiClient,
    unconfirmed_post: dict[str, Any],
    key_with: Any,
    agent_client: Any,
    owner: User,
    teammate: User,
    stranger: User,
    account: ConnectedAccount,
) -> None:
    for client, status, code in (
        (as_user(stranger), 404, "NOT_FOUND"),
        (as_user(teammate), 403, "FORBIDDEN"),
        (key_with("posts.schedule", "posts.draft"), 403, "SCOPE_MISSING"),
        (agent_client(default_mode="draft"), 403, "AGENT_MODE_FORBIDS"),
        (agent_client(default_mode="requires_confirmation"), 403, "AGENT_MODE_FORBIDS"),
        (agent_client(account_allowlist=[account.id]), 403, "ACCOUNT_NOT_ALLOWED"),
    ):
        assert_envelope(resolve(client, unconfirmed_post, **OUT), status, code)
    assert resolve(agent_client(default_mode="dry_run"), unconfirmed_post, **OUT).json()["dry_run"] is True
    assert read(api, unconfirmed_post) == unconfirmed_post
    assert resolve(as_user(owner), unconfirmed_post, **OUT, dry_run=True).status_code == 200
    allowed = agent_client(account_allowlist=[unconfirmed_post["targets"][0]["connected_account_id"]])
    assert resolved(resolve(allowed, unconfirmed_post, **OUT))["status"] == "published"


def test_a_repeated_call_with_its_key_is_replayed(
    api: ApiClient, workspace: Workspace, unconfirmed_post: dict[str, Any]
) -> None:
    first = resolve(api, unconfirmed_post, **OUT, key="k")
    again = resolve(api, unconfirmed_post, **OUT, key="k")

    assert (again.json(), again["idempotency-replayed"]) == (first.json(), "true")
    assert month_of(workspace) == (0, 1)
    assert_envelope(resolve(api, unconfirmed_post, **NOT_OUT), 409, "INVALID_STATE")


@pytest.mark.django_db(transaction=True)
def test_concurrent_contrary_resolutions_are_applied_once(
    api: ApiClient, workspace: Workspace, unconfirmed_post: dict[str, Any], scripted: type[ScriptedPlatform]
) -> None:
    def say(n: int) -> int:
        return int(resolve(api, unconfirmed_post, **(OUT if n % 2 else NOT_OUT)).status_code)

    assert sorted(in_threads(8, say)) == [200] + [409] * 7
    ended = read(api, unconfirmed_post)["status"]
    assert kinds_of(unconfirmed_post) == ["post.unconfirmed", f"post.{ended}"]
    assert month_of(workspace) == ((0, 1) if ended == "published" else (0, 0))
    assert billing.find_wrong_month_counters() == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_resolution_and_retry_have_one_winner(
    api: ApiClient,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for round_ in range(8):
        monkeypatch.setattr(scripted, "send", staticmethod(lambda content: 1 / 0))
        group = create(api, telegram_account, text=f"{round_}")
        run_until_idle()
        monkeypatch.setattr(scripted, "send", staticmethod(publish_content))

        def race(n: int, group: dict[str, Any] = group) -> int:
            path, again = f"/posts/{group['id']}/retry", {"include_unconfirmed": True}
            return int((api.post(path, again) if n else resolve(api, group, **OUT)).status_code)

        scripted.sent.clear()
        said, retried = in_threads(2, race)
        run_until_idle()

        assert {said, retried} == {200, 409}
        assert len(scripted.sent) == (1 if retried == 200 else 0)
        assert read(api, group)["status"] == "published"
    assert month_of(workspace) == (0, 8)
    assert billing.find_wrong_month_counters() == []
