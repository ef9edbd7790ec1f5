"""The operators' console: pause and resume workspaces."""

from __future__ import annotations

import pytest
from django.test import Client

from config.api.caller import WorkspaceStatus
from tests.conftest import ApiClient
from tests.console.operators import act, console_audit_entries
from tests.people import console
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def test_a_workspace_is_paused_and_resumed(operator: Client, workspace: Workspace, api: ApiClient) -> None:
    new_key = {"workspace_id": workspace.id, "name": "Key", "scopes": ["posts.read"]}
    messages = act(operator, "pause", workspace)
    refused = api.post("/auth/api-keys", new_key).json()["code"]

    assert messages == [f"Paused: {workspace.id}."]
    assert refused == "WORKSPACE_PAUSED"
    assert act(operator, "resume", workspace) == [f"Lifted the operators' pause: {workspace.id}."]
    assert Workspace.objects.get(pk=workspace.pk).status == WorkspaceStatus.ACTIVE
    assert console_audit_entries() == [
        ("ops.pause_workspace", workspace.id, workspace.id, None),
        ("ops.resume_workspace", workspace.id, workspace.id, None),
    ]


def test_an_error_for_one_workspace_does_not_stop_the_others(operator: Client, workspace: Workspace, stranger: User) -> None:
    deleted = Workspace.objects.get(owner_user=stranger)
    Workspace.objects.filter(pk=deleted.pk).update(status="deleted")
    messages = act(operator, "pause", deleted, workspace)

    assert Workspace.objects.get(pk=workspace.pk).status == WorkspaceStatus.PAUSED
    assert Workspace.objects.get(pk=deleted.pk).status == WorkspaceStatus.DELETED
    assert any(line.startswith(f"{deleted.id}: There is no such workspace.") for line in messages)
    assert ("ops.pause_workspace", "", "", "NOT_FOUND") in console_audit_entries()
