"""GET /ops/workspaces, and the two pauses: an operator's and the owner's."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from config.api.caller import Caller
from config.api.errors import ApiError
from config.db.ids import new_id
from posts.models import PostTarget
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, create, read
from workspaces.models import Member, User, Workspace
from workspaces.services import pause_workspace, resume_workspace


def change(operator: ApiClient, workspace: Workspace, verb: str, **body: Any) -> Any:
    return operator.post(f"/ops/workspaces/{workspace.id}/{verb}", body)


def caller(user: User) -> Caller:
    return Caller("user", user.id)


def status_of(workspace: Workspace) -> str:
    workspace.refresh_from_db()
    return workspace.status


def found(operator: ApiClient, query: str) -> list[str]:
    return [each["id"] for each in operator.get(f"/ops/workspaces?query={query}").json()["workspaces"]]


def test_workspaces_are_found_by_id_owner_name_and_slug(operator: ApiClient) -> None:
    owner = factories.UserFactory.create(email="ada@example.com")
    one = factories.WorkspaceFactory.create(name="Paper Boats", slug="boats", owner_user=owner)
    other = factories.WorkspaceFactory.create(name="Kites", status="deleted")

    for query in (one.id, owner.id, "ADA@example.com", "paper", "oat"):
        assert found(operator, query) == [one.id], query
    assert found(operator, "") == [other.id, one.id]
    assert found(operator, "nowhere") == []
    shown = operator.get("/ops/workspaces?query=kites").json()["workspaces"][0]
    assert (shown["status"], shown["owner_email"], shown["paused_by"]) == ("deleted", other.owner_user.email, [])


def test_a_paused_workspace_publishes_nothing_and_refuses_writes(
    operator: ApiClient, api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    group = create(api, account)
    answer = change(operator, workspace, "pause")
    run_until_idle()

    assert (answer.status_code, answer.json()["workspace"]["paused_by"]) == (200, ["operator"])
    assert [target["status"] for target in read(api, group)["targets"]] == ["pending"]
    assert_envelope(api.post("/posts", body_for(account)), 403, "WORKSPACE_PAUSED")
    assert change(operator, workspace, "resume").json()["workspace"]["status"] == "active"
    PostTarget.objects.update(due_at=timezone.now())  # a worker claims it again half a minute later
    run_until_idle()
    assert read(api, group)["status"] == "published"


def test_only_an_operator_can_end_an_operators_pause(operator: ApiClient, workspace: Workspace) -> None:
    change(operator, workspace, "pause")
    with pytest.raises(ApiError) as refused:
        resume_workspace(caller=caller(workspace.owner_user), workspace_id=workspace.id)

    assert (refused.value.code, status_of(workspace)) == ("WORKSPACE_PAUSED", "paused")


def test_the_operators_pause_and_the_owners_pause_are_independent(operator: ApiClient, workspace: Workspace) -> None:
    owner = caller(workspace.owner_user)
    pause_workspace(caller=owner, workspace_id=workspace.id)
    change(operator, workspace, "pause")
    assert change(operator, workspace, "resume").json()["workspace"]["paused_by"] == ["owner"]
    assert status_of(workspace) == "paused"
    change(operator, workspace, "pause")
    assert resume_workspace(caller=owner, workspace_id=workspace.id).paused_by == ["operator"]
    assert status_of(workspace) == "paused"
    change(operator, workspace, "resume")
    assert status_of(workspace) == "active"


def test_only_the_owner_may_pause_the_workspace(workspace: Workspace, teammate: User, stranger: User) -> None:
    admin = factories.UserFactory.create()
    Member.objects.create(workspace=workspace, user=admin, role="admin")
    key = Caller("api_key", new_id("key"), workspace.id, frozenset({"api_keys.write"}))
    callers = [caller(admin), caller(teammate), caller(stranger), key]
    codes = []
    for each in callers:
        with pytest.raises(ApiError) as refused:
            pause_workspace(caller=each, workspace_id=workspace.id)
        codes.append(refused.value.code)

    assert codes == ["FORBIDDEN", "FORBIDDEN", "NOT_FOUND", "USER_SESSION_REQUIRED"]
    assert status_of(workspace) == "active"
    pause_workspace(caller=caller(workspace.owner_user), workspace_id=workspace.id)
    assert status_of(workspace) == "paused"


def test_the_audit_log_names_the_operator_who_paused(operator: ApiClient, workspace: Workspace) -> None:
    change(operator, workspace, "pause")
    change(operator, workspace, "resume")
    pause_workspace(caller=caller(workspace.owner_user), workspace_id=workspace.id)
    logs = as_user(workspace.owner_user).get(f"/logs?workspace_id={workspace.id}").json()["logs"]

    assert [(log["operation"], log["actor_type"], log["via"]) for log in logs] == [
        ("workspaces.pause", "user", None),
        ("ops.resume_workspace", "system", "operator"),
        ("ops.pause_workspace", "system", "operator"),
    ]


def test_a_dry_run_changes_nothing(operator: ApiClient, workspace: Workspace) -> None:
    result = change(operator, workspace, "pause", dry_run=True).json()

    assert (result["operation"], result["would_update"]["status"]) == ("ops.pause_workspace", "paused")
    assert status_of(workspace) == "active"
    assert operator_audit_entries("ops.pause_workspace") == [(workspace.id, workspace.id, True, None)]


def test_a_deleted_or_unknown_workspace_cannot_be_paused(operator: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")
    for workspace_id in (workspace.id, new_id("wrk")):
        assert_envelope(operator.post(f"/ops/workspaces/{workspace_id}/pause"), 404, "NOT_FOUND")
    assert operator_audit_entries("ops.pause_workspace") == [("", "", False, "NOT_FOUND")] * 2
