"""POST /posts: accepted and refused requests, and what is written."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from config.db.ids import new_id
from posts.models import PostGroup, PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, WorkspaceFactory
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from webhooks.models import Event
from workspaces.models import User, Workspace

GROUP_FIELDS = {
    *("id", "workspace_id", "status", "content_version", "text", "media", "scheduled_at", "sandbox", "webhook_url"),
    *("metadata", "cost_cents", "created_by", "rejection_reason", "trace_id", "created_at", "updated_at"),
    *("plan_hash", "approval_url", "series_id", "finished_at", "targets"),
}
TARGET_FIELDS = {
    *("id", "platform", "connected_account_id", "status", "text", "options", "external_id", "permalink", "attempts"),
    *("scheduled_at", "slot", "next_attempt_at", "published_at", "cost_cents", "error"),
}


def assert_nothing_written() -> None:
    assert not PostGroup.objects.exists()
    assert not PostTarget.objects.exists()
    assert not LedgerEntry.objects.exists()
    assert not Event.objects.exists()


def test_a_post_is_published_at_once(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    answer = api.post("/posts", body_for(*accounts, metadata={"campaign": "spring"}))

    group = answer.json()["post_group"]
    assert (answer.status_code, answer.json()["sandbox"]) == (201, True)
    assert set(group) == GROUP_FIELDS
    assert set(group["targets"][0]) == TARGET_FIELDS
    assert (group["status"], group["content_version"], group["text"]) == ("publishing", 1, "Hello")
    assert (group["scheduled_at"], group["finished_at"], group["rejection_reason"]) == (None, None, None)
    assert group["metadata"] == {"campaign": "spring"}
    assert group["trace_id"] == answer["x-trace-id"]
    assert [target["connected_account_id"] for target in group["targets"]] == [account.id for account in accounts]
    assert {target["status"] for target in group["targets"]} == {"pending"}

    assert run_until_idle() == 3
    group = read(api, group)
    assert group["status"] == "published"
    assert group["finished_at"] is not None
    for target in group["targets"]:
        assert (target["status"], target["attempts"], target["error"]) == ("published", 1, None)
        assert target["external_id"]
        assert target["permalink"]
        assert target["published_at"]
        assert target["next_attempt_at"] is None


def test_a_draft_waits_for_a_person(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, draft=True)

    assert (group["status"], group["targets"][0]["next_attempt_at"]) == ("draft", None)
    assert run_until_idle() == 0
    assert kinds_of(group) == []


def test_a_draft_may_have_invalid_content(api: ApiClient, account: ConnectedAccount) -> None:
    assert create(api, account, text="a" * 301, draft=True)["status"] == "draft"


def test_invalid_content_is_refused_with_its_issues(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    answer = api.post("/posts", body_for(*accounts, text="word " * 90))  # 450: too long for two of the three

    details = assert_envelope(answer, 422, "CONTENT_INVALID")["details"]
    assert [(issue["code"], issue["field"]) for issue in details] == [
        ("TEXT_TOO_LONG", "targets[0].text"),
        ("TEXT_TOO_LONG", "targets[2].text"),
    ]
    assert set(details[0]) == {"code", "severity", "field", "message", "auto_fixable", "repair_hint"}
    assert_nothing_written()


def test_a_targets_own_text_and_options_override_the_groups(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    body = body_for(*accounts[:2], text="a" * 400)
    body["targets"][0] |= {"text": "[sandbox:reject]", "options": {"langs": ["en"]}}
    group = api.post("/posts", body).json()["post_group"]
    assert [target["text"] for target in group["targets"]] == ["[sandbox:reject]", None]
    assert [target["options"] for target in group["targets"]] == [{"langs": ["en"]}, {}]

    run_until_idle()

    assert [target["status"] for target in read(api, group)["targets"]] == ["failed", "published"]


def test_a_group_with_a_real_account_is_no_sandbox_group(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount
) -> None:
    answer = api.post("/posts", body_for(account, telegram_account))

    assert "sandbox" not in answer.json()
    assert answer.json()["post_group"]["sandbox"] is False
    assert [target["cost_cents"] for target in answer.json()["post_group"]["targets"]] == [0, 1]


def test_a_sandbox_post_to_a_real_account_is_simulated(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: Any
) -> None:
    group = create(api, telegram_account, sandbox=True)

    run_until_idle()

    assert (read(api, group)["status"], group["cost_cents"], scripted.sent) == ("published", 0, [])


@pytest.mark.parametrize("path", ["/posts", "/posts/validate"])
def test_foreign_and_absent_accounts_get_the_same_error(api: ApiClient, account: ConnectedAccount, path: str) -> None:
    foreign = AccountFactory(workspace=WorkspaceFactory())
    for account_id in (foreign.id, new_id("acc")):
        body = body_for(account, foreign)
        body["targets"][1]["connected_account_id"] = account_id
        assert assert_envelope(api.post(path, body), 422, "VALIDATION_FAILED")["details"] == [
            {"field": "targets[1].connected_account_id", "code": "not_found", "message": "This account does not exist."}
        ]


@pytest.mark.parametrize("path", ["/posts", "/posts/validate"])
@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"platform": "x"}, "targets[1].platform", "mismatch"),
        ({"platform": "myspace"}, "targets[1].platform", "invalid_choice"),
        ({"connected_account_id": "acc_1"}, "targets[1].connected_account_id", "invalid_id"),
        ({"connected_account_id": None}, "targets[1].connected_account_id", "null"),
        ({"options": []}, "targets[1].options", "wrong_type"),
        ({"colour": "red"}, "targets[1].colour", "unknown_field"),
    ],
)
def test_an_invalid_target_is_named(
    api: ApiClient, accounts: list[ConnectedAccount], path: str, change: dict[str, Any], field: str, code: str
) -> None:
    body = body_for(*accounts[:2])
    body["targets"][1] |= change

    details = assert_envelope(api.post(path, body), 422, "VALIDATION_FAILED")["details"]

    assert [(detail["field"], detail["code"]) for detail in details] == [(field, code)]


def test_an_account_cannot_be_a_target_twice(api: ApiClient, account: ConnectedAccount) -> None:
    details = assert_envelope(api.post("/posts", body_for(account, account)), 422, "VALIDATION_FAILED")["details"]

    assert [(detail["field"], detail["code"]) for detail in details] == [("targets[1].connected_account_id", "repeated")]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": None}, "text"),
        ({"text": "a" * 100_001}, "text"),
        ({"targets": []}, "targets"),
        ({"targets": {}}, "targets"),
        ({"wait": "yes"}, "wait"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {"a": "b" * 501}}, "metadata.a"),
        ({"metadata": {str(n): "" for n in range(51)}}, "metadata"),
        ({"media": [{"media_id": "med_01jd0000000000000000000000"}]}, "media[0].media_id"),
        ({"media": [{"media_id": "med_01jd0000000000000000000000"}] * 21}, "media"),
        ({"id": "pgr_1"}, "id"),
    ],
)
def test_an_invalid_field_is_named(api: ApiClient, account: ConnectedAccount, fields: dict[str, Any], field: str) -> None:
    answer = api.post("/posts", {**body_for(account), **fields})

    assert [detail["field"] for detail in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [field]
    assert_nothing_written()


def test_at_most_fifty_targets(api: ApiClient, workspace: Workspace) -> None:
    fifty = AccountFactory.create_batch(50, workspace=workspace)

    assert len(create(api, *fifty)["targets"]) == 50
    answer = api.post("/posts", body_for(*fifty, AccountFactory(workspace=workspace)))
    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "targets"


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("posts.draft", {"draft", "sandbox", "preview"}),
        ("posts.schedule", {"scheduled", "sandbox", "preview"}),
        ("posts.publish", {"now", "sandbox", "preview"}),
        ("posts.read", set()),
    ],
)
def test_the_needed_scope_depends_on_the_request(
    key_with: Any, workspace: Workspace, clock: Any, scope: str, allowed: set[str]
) -> None:
    client, account = key_with(scope), AccountFactory(workspace=workspace, sandbox=False)
    asked: dict[str, dict[str, Any]] = {
        "draft": {"draft": True},
        "scheduled": {"scheduled_at": TOMORROW},
        "now": {},
        "sandbox": {"sandbox": True},
        "preview": {"dry_run": True},
    }
    answers = {name: client.post("/posts", body_for(account, **fields)) for name, fields in asked.items()}

    assert {name for name, answer in answers.items() if answer.status_code == 201} == allowed
    for name in asked.keys() - allowed:
        assert_envelope(answers[name], 403, "SCOPE_MISSING")


def test_foreign_and_absent_workspaces_get_the_same_error(api: ApiClient, account: ConnectedAccount) -> None:
    for workspace_id in (WorkspaceFactory().id, new_id("wrk")):
        answer = api.post("/posts", body_for(account, workspace_id=workspace_id))
        assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"] == [
            {"field": "workspace_id", "code": "not_found", "message": "There is no such workspace."}
        ]


def test_a_signed_in_person_names_the_workspace(
    owner: User, teammate: User, stranger: User, account: ConnectedAccount
) -> None:
    named = body_for(account, workspace_id=account.workspace_id)

    details = assert_envelope(as_user(owner).post("/posts", body_for(account)), 422, "VALIDATION_FAILED")["details"]
    assert [(detail["field"], detail["code"]) for detail in details] == [("workspace_id", "required")]
    assert_envelope(as_user(teammate).post("/posts", named), 403, "FORBIDDEN")
    assert_envelope(as_user(stranger).post("/posts", named), 422, "VALIDATION_FAILED")
    group = as_user(owner).post("/posts", named).json()["post_group"]
    assert group["created_by"] == {"actor_type": "user", "actor_id": owner.id}


def test_a_paused_workspace_accepts_no_posts(api: ApiClient, workspace: Workspace, account: ConnectedAccount) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    assert_envelope(api.post("/posts", body_for(account)), 403, "WORKSPACE_PAUSED")
    assert api.post("/posts/validate", body_for(account)).status_code == 200


def test_an_account_that_needs_reauthentication_is_refused(api: ApiClient, account: ConnectedAccount) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")

    details = assert_envelope(api.post("/posts", body_for(account)), 422, "CONTENT_INVALID")["details"]

    assert [(issue["code"], issue["repair_hint"]["action"]) for issue in details] == [
        ("ACCOUNT_NEEDS_REAUTH", "reconnect_account")
    ]


def test_the_audit_log_records_created_and_refused_posts(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account)
    api.post("/posts", body_for(account, text="a" * 301))

    made, refused = AuditEntry.objects.filter(operation="posts.create").order_by("id")
    assert (made.outcome, made.resource_id, made.trace_id) == ("succeeded", group["id"], group["trace_id"])
    assert (refused.outcome, refused.code) == ("refused", "CONTENT_INVALID")
