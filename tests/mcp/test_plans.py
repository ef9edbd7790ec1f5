"""The tools plan_post, plan_change and commit_plan: what they show, what they do, and how they are refused."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from config.mcp.toolset import TOOLS
from posts.models import PostGroup, StoredPlan
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import planned, refusal, result_of, use
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def test_a_plan_writes_nothing_and_its_commit_does_what_it_shows(api: ApiClient, workspace: Workspace, clock: Any) -> None:
    account = factories.AccountFactory(workspace=workspace, platform="telegram", sandbox=False)
    Workspace.objects.filter(pk=workspace.pk).update(default_timezone="Europe/Berlin")
    answer = use(api.token, "plan_post", text="Hello", targets=[account.id], scheduled_at=TOMORROW)
    plan = answer["plan"]

    assert (
        answer["summary"]
        == "Would schedule the post for Thu 2027-03-11 13:00 Europe/Berlin: 1 account. Cost: 1 cent ($0.01)."
    )
    assert plan["id"] in answer["next"]
    assert plan == api.get(f"/plans/{plan['id']}").json()["plan"]
    assert not PostGroup.objects.exists()
    assert not LedgerEntry.objects.exists()

    done = use(api.token, "commit_plan", plan_id=plan["id"])
    again = use(api.token, "commit_plan", plan_id=plan["id"])

    group = done["post_group"]
    assert (group["status"], group["plan_hash"], group["cost"]) == ("scheduled", plan["hash"], "1 cent ($0.01)")
    assert group["scheduled_local"] == "Thu 2027-03-11 13:00 Europe/Berlin"
    assert again["post_group"] == group
    assert PostGroup.objects.count() == 1
    entries = AuditEntry.objects.filter(operation__in=["plans.create", "posts.create"]).order_by("pk")
    assert [(entry.operation, entry.via, entry.actor_type) for entry in entries] == [
        ("plans.create", "mcp", "mcp"),
        ("posts.create", "mcp", "mcp"),
    ]
    assert [entry.metadata["client"] for entry in entries] == ["Test client/1.2"] * 2


def test_targets_have_their_own_texts_and_options(api: ApiClient, workspace: Workspace) -> None:
    one, other = factories.AccountFactory(workspace=workspace), factories.AccountFactory(workspace=workspace)
    targets = [one.id, {"account_id": other.id, "text": "Other words", "options": {"langs": ["de"]}}]
    asset = factories.MediaAssetFactory(workspace=workspace)
    plan_id = planned(api.token, one.id, targets=targets, draft=True, media=[{"media_id": asset.id, "alt_text": "A bench"}])

    group = use(api.token, "commit_plan", plan_id=plan_id)["post_group"]

    assert [(target["text"], target["options"]) for target in group["targets"]] == [
        (None, {}),
        ("Other words", {"langs": ["de"]}),
    ]
    assert (group["status"], group["media"]) == ("draft", [{"media_id": asset.id, "alt_text": "A bench"}])


def test_the_repair_hints_of_a_refused_post_can_be_applied(api: ApiClient, account: ConnectedAccount) -> None:
    targets = [{"account_id": account.id, "text": "word " * 100}]
    refused = refusal(api.token, "plan_post", text="Short", targets=targets)
    [issue] = refused["details"]
    assert (refused["code"], issue["repair_hint"]["field"]) == ("CONTENT_INVALID", "targets[0].text")
    assert "plan again" in refused["suggested_action"]

    targets[0]["text"] = issue["repair_hint"]["value"]
    assert use(api.token, "plan_post", text="Short", targets=targets)["plan"]["status"] == "open"


def test_faults_name_the_arguments_of_the_tool(api: ApiClient, account: ConnectedAccount) -> None:
    foreign = factories.AccountFactory()
    faults: list[tuple[dict[str, Any], str, str]] = [
        ({"text": "a", "targets": [account.id, foreign.id]}, "targets[1].account_id", "not_found"),
        ({"text": "a", "targets": [account.id, account.id]}, "targets[1].account_id", "repeated"),
        ({"text": "a", "targets": ["x"]}, "targets[0].account_id", "invalid_id"),
        ({"text": "a", "targets": [{"account_id": account.id, "platform": "x"}]}, "targets[0].platform", "unknown_field"),
        ({"text": "a", "targets": [account.id], "scheduled_at": "soon"}, "scheduled_at", "invalid"),
        ({"text": "a", "targets": [account.id], "webhook_url": "https://a.example"}, "webhook_url", "unknown_field"),
        ({"targets": [account.id]}, "text", "required"),
    ]
    for arguments, field, code in faults:
        refused = refusal(api.token, "plan_post", **arguments)
        assert [(row["field"], row["code"]) for row in refused["details"]] == [(field, code)], refused
    assert {entry.code for entry in AuditEntry.objects.filter(operation="plans.create", outcome="refused")} == {
        "VALIDATION_FAILED"
    }
    assert not StoredPlan.objects.exists()


def test_a_post_is_updated_rescheduled_and_cancelled_by_plans(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    def change(**arguments: Any) -> dict[str, Any]:
        plan = use(api.token, "plan_change", post_group_id=group["id"], **arguments)["plan"]
        changed: dict[str, Any] = use(api.token, "commit_plan", plan_id=plan["id"])["post_group"]
        return changed

    other = factories.AccountFactory(workspace=account.workspace)
    updated = change(change="update", text="New words", targets=[account.id, other.id])
    moved = change(change="reschedule", scheduled_at="2027-03-12T08:00:00Z")
    cancelled = change(change="cancel")

    assert (updated["text"], len(updated["targets"])) == ("New words", 2)
    assert moved["scheduled_at"] == "2027-03-12T08:00:00Z"
    assert cancelled["status"] == "cancelled"


def test_a_failed_post_is_retried_by_a_plan(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="[sandbox:reject] no")
    run_until_idle()
    shown = use(api.token, "get_post", post_group_id=group["id"])
    assert (shown["post_group"]["status"], "change: retry" in shown["next"]) == ("failed", True)

    plan = use(api.token, "plan_change", post_group_id=group["id"], change="retry")["plan"]
    assert use(api.token, "commit_plan", plan_id=plan["id"])["post_group"]["status"] == "publishing"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"change": "cancel", "text": "a"}, "text"),
        ({"change": "reschedule", "scheduled_at": TOMORROW, "text": "a"}, "text"),
        ({"change": "reschedule"}, "scheduled_at"),
        ({"change": "retry", "media": []}, "media"),
        ({"change": "confirm"}, "change"),
    ],
)
def test_a_change_takes_only_its_own_fields(api: ApiClient, account: ConnectedAccount, arguments: Any, field: str) -> None:
    group = create(api, account, draft=True)
    refused = refusal(api.token, "plan_change", post_group_id=group["id"], **arguments)

    assert [row["field"] for row in refused["details"]] == [field]


def test_a_plan_that_has_changed_is_refused_with_a_new_one(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    plan = use(api.token, "plan_change", post_group_id=group["id"], change="cancel")["plan"]
    api.request("PATCH", f"/posts/{group['id']}", {"text": "Meanwhile"})

    refused = refusal(api.token, "commit_plan", plan_id=plan["id"])

    assert (refused["code"], refused["details"][0]["code"]) == ("PLAN_CHANGED", "changed")
    assert use(api.token, "commit_plan", plan_id=refused["plan"]["id"])["post_group"]["status"] == "cancelled"


def test_an_expired_plan_says_how_to_make_a_new_one(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    plan_id = planned(api.token, account.id)
    clock.shift(3601)

    refused = refusal(api.token, "commit_plan", plan_id=plan_id)
    assert (refused["code"], "plan_post" in refused["suggested_action"]) == ("PLAN_EXPIRED", True)


def test_an_agent_that_may_only_try_changes_nothing(agent_client: Any, account: ConnectedAccount) -> None:
    agent = agent_client(default_mode="dry_run")
    plan_id = planned(agent.token, account.id)

    tried = use(agent.token, "commit_plan", plan_id=plan_id)

    assert (tried["dry_run"], tried["plan"]["status"]) == (True, "open")
    assert not PostGroup.objects.exists()


def test_modes_scopes_caps_and_allowlists_hold(agent_client: Any, account: ConnectedAccount, workspace: Workspace) -> None:
    other = factories.AccountFactory(workspace=workspace)
    drafts = agent_client(default_mode="draft")
    reader = agent_client(scopes=["posts.read"])
    bound = agent_client(account_allowlist=[account.id])
    poor = agent_client(monthly_spend_cap_cents=0)
    real = factories.AccountFactory(workspace=workspace, platform="telegram", sandbox=False)

    refusals = [
        refusal(drafts.token, "plan_post", text="a", targets=[account.id]),
        refusal(reader.token, "plan_post", text="a", targets=[account.id]),
        refusal(bound.token, "plan_post", text="a", targets=[other.id]),
        refusal(poor.token, "plan_post", text="a", targets=[real.id]),
    ]

    codes = ["AGENT_MODE_FORBIDS", "SCOPE_MISSING", "ACCOUNT_NOT_ALLOWED", "SPEND_CAP_EXCEEDED"]
    assert [refused["code"] for refused in refusals] == codes
    assert [entry.code for entry in AuditEntry.objects.filter(operation="plans.create").order_by("pk")] == codes
    assert not StoredPlan.objects.exists()


def test_a_batch_planned_over_http_is_committed(api: ApiClient, account: ConnectedAccount) -> None:
    request = {"posts": [body_for(account, text=text, draft=True) for text in "ab"]}
    plan = api.post("/plans", {"operation": "posts.create_batch", "request": request}).json()["plan"]

    groups = use(api.token, "commit_plan", plan_id=plan["id"])["post_groups"]
    assert [group["text"] for group in groups] == ["a", "b"]


def test_answers_conform_to_the_output_schemas(api: ApiClient, account: ConnectedAccount) -> None:
    plan_id = planned(api.token, account.id, draft=True)
    committed = use(api.token, "commit_plan", plan_id=plan_id)
    group = {"post_group_id": committed["post_group"]["id"]}
    calls: dict[str, dict[str, Any]] = {
        "context": {},
        "plan_post": {"text": "a", "targets": [account.id]},
        "plan_change": {**group, "change": "cancel"},
        "commit_plan": {"plan_id": plan_id},
        "find_posts": {},
        "get_post": group,
        "usage": {},
    }
    for name, arguments in calls.items():
        listed = TOOLS[name].tools_list_entry()
        Draft202012Validator.check_schema(listed["inputSchema"])
        Draft202012Validator(listed["inputSchema"]).validate(arguments)
        Draft202012Validator(listed["outputSchema"]).validate(use(api.token, name, **arguments))


def test_long_texts_are_cut_from_an_answer(api: ApiClient, account: ConnectedAccount, workspace: Workspace) -> None:
    targets = [{"account_id": factories.AccountFactory(workspace=workspace).id, "text": '"\n' * 40_000} for _ in range(5)]
    plan = use(api.token, "plan_post", text='"' * 90_000, targets=targets, draft=True)["plan"]

    shown = result_of(api.token, "commit_plan", plan_id=plan["id"])["structuredContent"]["post_group"]

    assert "more characters]" in shown["text"]
    assert PostGroup.objects.get(pk=shown["id"]).text == '"' * 90_000


def test_targets_have_their_own_times_and_slots(api: ApiClient, workspace: Workspace, clock: Any) -> None:
    one, other = factories.AccountFactory(workspace=workspace), factories.AccountFactory(workspace=workspace)
    slots = {"timezone": "UTC", "slots": [{"weekday": "fri", "time": "09:00"}]}
    assert api.request("PUT", f"/accounts/{other.id}/slots", slots).status_code == 200
    targets = [{"account_id": one.id, "scheduled_at": TOMORROW}, {"account_id": other.id, "slot": "next"}]
    planned_post = use(api.token, "plan_post", text="Each in its turn", targets=targets)

    group = use(api.token, "commit_plan", plan_id=planned_post["plan"]["id"])["post_group"]

    assert "for Thu 2027-03-11 12:00 UTC to Fri 2027-03-12 09:00 UTC: 2 accounts" in planned_post["summary"]
    assert group["targets"][1]["scheduled_local"] == "Fri 2027-03-12 09:00 UTC"

    moments = [target["scheduled_at"] for target in group["targets"]]
    assert (group["status"], moments) == ("scheduled", [TOMORROW, "2027-03-12T09:00:00Z"])
    both = [{**targets[0], "slot": "next"}]
    [fault] = refusal(api.token, "plan_post", text="a", targets=both)["details"]
    assert fault["field"] == "targets[0].slot"
