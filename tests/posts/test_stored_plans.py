"""Plans: made by POST /plans, and committed later exactly as they were shown, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from agents.models import Agent
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from posts.models import PostGroup, StoredPlan
from posts.retention import ExpiredPlansRule
from posts.services import stored_plans
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import OTHER_HASH
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from webhooks.models import Event
from workspaces.models import Member, User, Workspace


def plan(api: ApiClient, operation: str, request: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = api.post("/plans", {"operation": operation, "request": request, **fields})
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()["plan"]
    return made


def commit(api: ApiClient, made: dict[str, Any], body: dict[str, Any] | None = None, **headers: str) -> Any:
    return api.post(f"/plans/{made['id']}/commit", body, **headers)


def state_of(api: ApiClient, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/plans/{made['id']}").json()["plan"]
    return found


def test_a_plan_writes_nothing_and_its_commit_does_what_it_shows(
    api: ApiClient, telegram_account: ConnectedAccount, clock: Any
) -> None:
    body = body_for(telegram_account, scheduled_at=TOMORROW, metadata={"a": "b"})
    previewed = api.post("/posts", {**body, "dry_run": True}).json()
    made = plan(api, "posts.create", body)

    assert (made["status"], made["result"], made["expires_at"]) == ("open", None, "2027-03-10T13:00:00Z")
    assert made["preview"] == previewed
    assert made["hash"] == previewed["plan_hash"]
    assert state_of(api, made) == made
    assert not PostGroup.objects.exists()
    assert not LedgerEntry.objects.exists()
    assert not Event.objects.exists()

    clock.shift(600)
    answer = commit(api, made)

    group = answer.json()["post_group"]
    assert (answer.status_code, group["status"], group["plan_hash"]) == (201, "scheduled", made["hash"])
    assert group["metadata"] == {"a": "b"}
    assert LedgerEntry.objects.count() == 1
    result = {"resource_type": "post_group", "resource_ids": [group["id"]]}
    assert state_of(api, made) == {**made, "status": "committed", "result": result}
    entries = AuditEntry.objects.filter(dry_run=False).order_by("pk")
    assert [(entry.operation, entry.resource_id) for entry in entries] == [
        ("plans.create", made["id"]),
        ("posts.create", group["id"]),
    ]
    assert entries[1].metadata["plan_id"] == made["id"]


def test_a_second_commit_answers_the_first_result(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    made = plan(api, "posts.create", body_for(account, draft=True))
    first = commit(api, made, idempotency_key="k")
    clock.shift(7200)

    for again in (commit(api, made), commit(api, made, idempotency_key="k"), commit(api, made, idempotency_key="other")):
        assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert PostGroup.objects.count() == 1


def test_a_key_is_answered_after_its_plan_was_deleted(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    made = plan(api, "posts.create", body_for(account, draft=True))
    first = commit(api, made)
    clock.shift(20 * 3600)
    commit(api, made, idempotency_key="late")
    clock.shift(6 * 3600)
    assert ExpiredPlansRule().purge(10) == 1

    assert commit(api, made, idempotency_key="late").json() == first.json()


@pytest.mark.django_db(transaction=True)
def test_concurrent_commits_create_one_post(api: ApiClient, account: ConnectedAccount) -> None:
    made = plan(api, "posts.create", body_for(account, draft=True))

    answers = in_threads(4, lambda _: commit(api, made))

    assert len({answer.json()["post_group"]["id"] for answer in answers}) == 1
    assert PostGroup.objects.count() == 1


def test_a_batch_and_the_changes_of_a_group_can_be_planned(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    made = plan(api, "posts.create_batch", {"posts": [body_for(account, text=text, draft=True) for text in "ab"]})
    groups = commit(api, made).json()["post_groups"]
    assert [group["text"] for group in groups] == ["a", "b"]
    named = {"post_group_id": groups[0]["id"]}

    edited = commit(api, plan(api, "posts.update", {"text": "c", "scheduled_at": TOMORROW}, **named))
    assert (edited.status_code, edited.json()["post_group"]["text"]) == (200, "c")
    confirmed = commit(api, plan(api, "posts.confirm", {"content_version": 2}, **named))
    assert confirmed.json()["post_group"]["status"] == "scheduled"
    cancelled = commit(api, plan(api, "posts.cancel", {}, **named))
    assert cancelled.json()["post_group"]["status"] == "cancelled"


def test_a_plan_that_has_changed_is_refused_with_a_new_one(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    made = plan(api, "posts.cancel", {}, post_group_id=group["id"])
    edited = api.request("PATCH", f"/posts/{group['id']}", {"text": "Other"}).json()["post_group"]

    error = assert_envelope(commit(api, made, idempotency_key="k"), 409, "PLAN_CHANGED")

    assert read(api, group) == edited
    assert {(each["field"], each["code"]) for each in error["details"]} == {
        ("posts[0].after.text", "changed"),
        ("posts[0].before.text", "changed"),
    }
    assert (error["plan"]["status"], error["plan"]["post_group_id"]) == ("open", group["id"])
    assert state_of(api, made)["status"] == "open"
    assert commit(api, error["plan"], idempotency_key="k").json()["post_group"]["status"] == "cancelled"


def test_the_operations_own_errors_come_first(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    made = plan(api, "posts.cancel", {}, post_group_id=group["id"])
    api.delete(f"/posts/{group['id']}")

    assert_envelope(commit(api, made), 409, "INVALID_STATE")
    again = {"operation": "posts.cancel", "post_group_id": group["id"], "request": {}}
    assert_envelope(api.post("/plans", again), 409, "INVALID_STATE")


def test_an_expired_plan_is_refused_and_deleted_a_day_later(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    made = plan(api, "posts.create", body_for(account))
    clock.shift(3600)

    assert_envelope(commit(api, made), 410, "PLAN_EXPIRED")
    assert state_of(api, made)["status"] == "expired"
    assert ExpiredPlansRule().purge(10) == 0
    clock.shift(86400)
    assert ExpiredPlansRule().purge(10) == 1


def test_the_dry_run_of_a_commit_is_the_operations(api: ApiClient, account: ConnectedAccount) -> None:
    made = plan(api, "posts.create", body_for(account))

    answer = commit(api, made, {"dry_run": True})

    assert (answer.status_code, answer.json()) == (201, made["preview"])
    assert state_of(api, made)["status"] == "open"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"operation": "posts.resolve", "request": {}}, "operation"),
        ({"operation": "posts.cancel", "request": {}}, "post_group_id"),
        ({"operation": "posts.create", "request": {}, "post_group_id": "pgr_" + "0" * 26}, "post_group_id"),
        ({"operation": "posts.create", "request": {"text": "a", "targets": [], "dry_run": True}}, "request.dry_run"),
        ({"operation": "posts.create", "request": {"text": 1, "targets": []}}, "request.text"),
        ({"operation": "posts.create", "request": []}, "request"),
        ({"operation": "posts.create"}, "request"),
    ],
)
def test_invalid_input_names_its_field(api: ApiClient, body: dict[str, Any], field: str) -> None:
    error = assert_envelope(api.post("/plans", body), 422, "VALIDATION_FAILED")

    assert field in [each["field"] for each in error["details"]]
    assert not StoredPlan.objects.exists()


def test_a_plan_is_refused_like_its_operation(api: ApiClient, account: ConnectedAccount) -> None:
    body = {"operation": "posts.create", "request": body_for(account, text="a" * 301)}

    assert_envelope(api.post("/plans", body), 422, "CONTENT_INVALID")


def test_a_workspace_has_a_limited_number_of_open_plans(
    api: ApiClient, account: ConnectedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_plans, "MAX_OPEN_PLANS", 1)
    made = plan(api, "posts.create", body_for(account))

    assert_envelope(api.post("/plans", {"operation": "posts.create", "request": body_for(account)}), 409, "CONFLICT")
    commit(api, made)
    plan(api, "posts.create", body_for(account, text="Next"))


def test_plans_of_others_are_absent(
    api: ApiClient, account: ConnectedAccount, workspace: Workspace, agent_client: Any
) -> None:
    made = plan(api, "posts.create", body_for(account))
    foreign = ApiClient(factories.workspace_key(factories.WorkspaceFactory.create()))
    member = factories.UserFactory.create()
    Member.objects.create(workspace=workspace, user=member, role="member")

    assert_envelope(foreign.get(f"/plans/{made['id']}"), 404, "NOT_FOUND")
    for other in (foreign, agent_client(), as_user(member)):
        assert_envelope(commit(other, made), 404, "NOT_FOUND")
    assert state_of(api, made)["status"] == "open"


def test_an_agents_plan_outlives_its_key(agent_client: Any, account: ConnectedAccount) -> None:
    agent = agent_client()
    made = plan(agent, "posts.create", body_for(account))
    agent_id = StoredPlan.objects.get().agent_id
    rotated = agent.post(f"/agents/{agent_id}/rotate-key")
    renewed = ApiClient(rotated.json()["api_key"]["token"]) if rotated.status_code == 201 else agent

    assert commit(renewed, made).status_code == 201


def test_a_dry_run_agent_may_plan_but_not_commit(agent_client: Any, account: ConnectedAccount) -> None:
    agent = agent_client(default_mode="dry_run")
    made = plan(agent, "posts.create", body_for(account))

    assert (commit(agent, made).status_code, commit(agent, made).json()["dry_run"]) == (201, True)
    assert state_of(agent, made)["status"] == "open"
    assert not PostGroup.objects.exists()


@pytest.mark.parametrize("mode", ["requires_confirmation", "dry_run"])
def test_a_persons_commit_of_an_agents_plan_is_the_approval(
    owner: User, agent_client: Any, telegram_account: ConnectedAccount, clock: Any, mode: str
) -> None:
    agent = agent_client(default_mode=mode)
    made = plan(agent, "posts.create", body_for(telegram_account, scheduled_at=TOMORROW))

    answer = commit(as_user(owner), made)

    group = answer.json()["post_group"]
    assert (answer.status_code, group["status"], group["plan_hash"]) == (201, "scheduled", made["hash"])
    row = Agent.objects.get()
    assert group["created_by"] == {"actor_type": "agent", "actor_id": row.id}
    assert LedgerEntry.objects.get().agent_id == row.id
    assert kinds_of(group) == ["post.confirmed", "post.scheduled"]
    entry = AuditEntry.objects.get(operation="posts.create", dry_run=False)
    assert (entry.actor_type, entry.actor_id) == ("user", owner.id)
    assert (entry.metadata["agent_id"], entry.metadata["plan_id"]) == (row.id, made["id"])


def test_the_agents_caps_hold_for_an_approved_plan(
    owner: User, agent_client: Any, telegram_account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(default_mode="requires_confirmation", posts_per_day_cap=1)
    first, second = (
        plan(agent, "posts.create", body_for(telegram_account, text=text, scheduled_at=TOMORROW)) for text in "ab"
    )

    assert commit(as_user(owner), first).status_code == 201
    assert_envelope(commit(as_user(owner), second), 429, "POSTS_PER_DAY_CAP_EXCEEDED")


def test_an_owner_who_narrows_the_agent_changes_its_plans(owner: User, agent_client: Any, account: ConnectedAccount) -> None:
    agent = agent_client()
    made = plan(agent, "posts.create", body_for(account))
    Agent.objects.update(default_mode="draft")

    assert_envelope(commit(agent, made), 403, "AGENT_MODE_FORBIDS")
    Agent.objects.update(default_mode="requires_confirmation")
    error = assert_envelope(commit(agent, made), 409, "PLAN_CHANGED")
    assert {"field": "ceiling", "code": "changed"}.items() <= error["details"][0].items()
    assert not PostGroup.objects.exists()


def test_a_plan_is_committed_only_with_its_own_hash(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    made = plan(api, "posts.create", body_for(account))

    refused = assert_envelope(commit(api, made, plan_hash=OTHER_HASH), 409, "PLAN_CHANGED")
    assert "plan" not in refused
    assert state_of(api, made) == made
    assert not PostGroup.objects.exists()

    assert commit(api, made, plan_hash=made["hash"]).status_code == 201
    assert commit(api, made, plan_hash=OTHER_HASH)["Idempotency-Replayed"] == "true"
