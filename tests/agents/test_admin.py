"""The operators' console: revoke agents and keys."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import Agent, ApiKey, ClaimToken, OAuthGrant
from tests import factories
from tests.conftest import ApiClient
from tests.console.operators import act, console_audit_entries
from tests.oauth_programs import Program, allow, browser_of
from tests.people import console
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def test_a_revoked_agent_and_its_keys_stop_at_once(operator: Client, workspace: Workspace) -> None:
    agent: Agent = factories.AgentFactory.create(workspace=workspace)
    its_own = ApiClient(factories.agent_key(agent))
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")  # an operator may do it all the same

    assert act(operator, "revoke", agent) == [f"Revoked: {agent.id}."]
    assert its_own.get(f"/agents/{agent.id}").json()["code"] == "API_KEY_REVOKED"
    assert Agent.objects.get(pk=agent.pk).status == "revoked"
    assert not ClaimToken.objects.filter(agent=agent, burned_at=None).exists()
    assert console_audit_entries() == [("agents.revoke", workspace.id, agent.id, None)]


def test_revoked_keys_stop_at_once(operator: Client, workspace: Workspace) -> None:
    clients = [ApiClient(factories.workspace_key(workspace)) for _ in range(2)]
    keys = list(ApiKey.objects.order_by("pk"))

    assert act(operator, "revoke", *keys) == [f"Revoked: {keys[1].id}, {keys[0].id}."]
    assert {client.get("/capabilities").json()["code"] for client in clients} == {"API_KEY_REVOKED"}
    assert {entry[:2] for entry in console_audit_entries()} == {("ops.revoke_key", workspace.id)}


def test_read_only_staff_see_no_actions(operator: Client, workspace: Workspace) -> None:
    factories.workspace_key(workspace)
    [key] = ApiKey.objects.all()
    User.objects.filter(username="operator").update(is_superuser=False)
    operator.post("/admin/agents/apikey/", {"action": "revoke", "_selected_action": [key.pk], "confirmed": "yes"})

    assert ApiKey.objects.get().revoked_at is None


def test_oauth_clients_and_grants_are_listed_without_secrets(operator: Client, workspace: Workspace, owner: User) -> None:
    program = Program()
    program.register(client_name="Claude")
    code = allow(browser_of(owner), program.authorize_path())["code"]
    grant = OAuthGrant.objects.get()

    assert "Claude" in operator.get("/admin/agents/oauthclient/").content.decode()
    shown = operator.get(f"/admin/agents/oauthgrant/{grant.id}/change/").content.decode()
    assert grant.agent_id in shown
    assert not [secret for secret in (code, grant.code_sha256, grant.code_challenge) if str(secret) in shown]
    assert operator.post(f"/admin/agents/oauthgrant/{grant.id}/delete/").status_code == 403
