"""A program that starts with nothing: it finds the OAuth server, gets a person's consent, and publishes by two tool calls."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import ConnectedAccount
from agents.models import Agent
from auditlog.models import AuditEntry
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import planned, send, use
from tests.oauth_programs import Program, allow, browser_of
from tests.posts.publishing.worker import run_until_idle
from workspaces.models import User, Workspace


def read(address: str) -> dict[str, Any]:
    return dict(Client().get(address.removeprefix(settings.BASE_URL)).json())


def test_a_program_without_a_key_publishes_a_post(workspace: Workspace, account: ConnectedAccount, owner: User) -> None:
    challenge = send(None, {})["www-authenticate"]
    resource = read(challenge.partition('resource_metadata="')[2].partition('"')[0])
    server = read(f"{resource['authorization_servers'][0]}/.well-known/oauth-authorization-server")
    program = Program()
    program.register(client_name="Claude")
    assert server["authorization_endpoint"].endswith("/oauth/authorize")
    sent = allow(browser_of(owner), program.authorize_path(resource=resource["resource"]), default_mode="allow_publish")
    token = program.exchange(sent["code"]).json()["access_token"]

    plan = use(token, "plan_post", text="Hello from a program", targets=[account.id])["plan"]
    group = use(token, "commit_plan", plan_id=plan["id"])["post_group"]
    run_until_idle()

    stored = PostGroup.objects.get()
    assert (stored.id, stored.status, stored.created_by_id) == (group["id"], "published", Agent.objects.get().id)


def test_a_program_asks_first_unless_the_person_chose_otherwise(workspace: Workspace, owner: User) -> None:
    account = factories.AccountFactory(workspace=workspace)
    token = Program().connect(browser_of(owner))["access_token"]

    plan = use(token, "plan_post", text="May I?", targets=[account.id])["plan"]
    group = use(token, "commit_plan", plan_id=plan["id"])["post_group"]
    run_until_idle()

    assert group["status"] == "pending_confirmation"
    assert group["approval_url"]
    assert PostGroup.objects.get().status == "pending_confirmation"


@pytest.mark.parametrize("version", [None, "2025-11-25"])
def test_the_log_names_the_program_whatever_its_client_says(workspace: Workspace, owner: User, version: str | None) -> None:
    account = factories.AccountFactory(workspace=workspace)
    program = Program()
    program.register(client_name="Claude")
    token = program.connect(browser_of(owner))["access_token"]
    if version:
        use_as_older_client(token, account.id, version)
    else:
        planned(token, account.id)

    assert AuditEntry.objects.get(operation="plans.create").metadata["client"] == "Claude"


def test_the_log_names_older_clients_with_keys_by_their_user_agent(api: ApiClient, account: ConnectedAccount) -> None:
    use_as_older_client(api.token, account.id, "2025-11-25", user_agent="claude-code/2.1 (external, cli)")

    assert AuditEntry.objects.get(operation="plans.create").metadata["client"] == "claude-code/2.1 (User-Agent)"


def use_as_older_client(token: str | None, account_id: str, version: str, **headers: str) -> None:
    """Plan a post as a client of an older revision, which says its name only in `initialize`."""
    params = {"name": "plan_post", "arguments": {"text": "Hello", "targets": [account_id]}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert send(token, body, mcp_protocol_version=version, **headers).json()["result"]["isError"] is False
