"""A program that starts with nothing: it finds the OAuth server, gets a person's consent, and publishes by two tool calls."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.test import Client

from accounts.models import ConnectedAccount
from agents.models import Agent
from posts.models import PostGroup
from tests import factories
from tests.mcp.calls import send, use
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
