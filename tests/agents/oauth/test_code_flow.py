"""The authorization code flow: from nothing to a token that is an agent, and what it refuses."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.utils import timezone

from agents.models import Agent, ApiKey, ClaimToken, OAuthGrant, OAuthToken
from agents.tokens import is_well_formed_token
from auditlog.models import AuditEntry
from tests.conftest import ApiClient
from tests.mcp.calls import call
from tests.oauth_programs import Program, allow, decide, sent_to_program
from tests.pages import words
from workspaces.models import User, Workspace

API = settings.BASE_URL
MCP = f"{API}/mcp"


def test_a_program_that_starts_with_nothing_gets_an_agents_token(browser: Client, workspace: Workspace, owner: User) -> None:
    program = Program()
    program.register(client_name="Claude")
    sent = allow(browser, program.authorize_path())
    answer = program.exchange(sent["code"])

    assert (answer.status_code, answer["cache-control"], answer["content-type"]) == (200, "no-store", "application/json")
    assert answer["x-trace-id"]
    issued = answer.json()
    assert (issued["token_type"], issued["expires_in"]) == ("Bearer", 3600)
    assert is_well_formed_token(issued["access_token"])
    assert issued["access_token"].startswith("sps_oat_")
    assert set(issued["scope"].split()) >= {"posts.read", "posts.publish", "usage.read"}
    agent = Agent.objects.get()
    assert (agent.workspace, agent.owner_user, agent.name) == (workspace, owner, "Claude")
    assert (agent.default_mode, agent.monthly_spend_cap_cents) == ("requires_confirmation", 500)
    assert sorted(agent.scopes) == sorted(issued["scope"].split())
    assert not ClaimToken.objects.exists()
    assert not ApiKey.objects.exists()
    usage = call(issued["access_token"], "tools/call", name="usage", arguments={}).json()["result"]
    assert usage["structuredContent"]["agent_id"] == agent.id


def test_the_state_comes_back_and_tokens_are_stored_as_hashes(browser: Client, program: Program) -> None:
    sent = allow(browser, program.authorize_path())
    issued = program.exchange(sent["code"]).json()

    assert sent == {"code": sent["code"], "state": "the program's state"}
    stored = str(OAuthToken.objects.values().get()) + str(OAuthGrant.objects.values().get())
    assert not any(secret in stored for secret in (sent["code"], issued["access_token"], issued["refresh_token"]))


def test_the_audit_log_names_client_and_agent(browser: Client, program: Program, owner: User) -> None:
    program.connect(browser)

    entries = {entry.operation: entry for entry in AuditEntry.objects.filter(operation__in=["agents.create", "oauth.allow"])}
    assert {entry.actor_id for entry in entries.values()} == {owner.id}
    assert entries["oauth.allow"].resource_id == Agent.objects.get().id
    assert entries["oauth.allow"].metadata["resource"] == MCP


@pytest.mark.parametrize(("resource", "opens", "shut"), [(None, "mcp", "api"), (MCP, "mcp", "api"), (API, "api", "mcp")])
def test_a_token_opens_only_the_resource_it_was_issued_for(
    browser: Client, program: Program, resource: str | None, opens: str, shut: str
) -> None:
    token = program.connect(browser, resource=resource)["access_token"]

    answers = {"api": ApiClient(token).get("/capabilities"), "mcp": call(token, "tools/list")}
    assert {name: answer.status_code for name, answer in answers.items()} == {opens: 200, shut: 401}


@pytest.mark.parametrize("resource", [f"{API}/", f"{MCP}/", "https://elsewhere.example", f"{API}/MCP", [API, MCP]])
def test_other_resources_are_refused_by_redirect(browser: Client, local_program: Program, resource: Any) -> None:
    sent = sent_to_program(browser.get(local_program.authorize_path(resource=resource)))

    assert (sent["error"], sent["state"]) == ("invalid_target", "the program's state")


def test_the_resource_at_the_exchange_must_be_the_same(browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path(resource=API))["code"]

    assert program.exchange(code, resource=MCP).json()["error"] == "invalid_target"
    assert program.exchange(code, resource=API).status_code == 200


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "none"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
    ],
)
def test_wrong_requests_are_answered_by_redirect(
    browser: Client, local_program: Program, changes: dict[str, Any], error: str
) -> None:
    sent = sent_to_program(browser.get(local_program.authorize_path(**changes)))

    assert (sent["error"], sent["state"]) == (error, "the program's state")
    assert not Agent.objects.exists()


def test_a_wrong_request_sends_nobody_to_a_website_without_a_click(browser: Client, program: Program) -> None:
    page = browser.get(program.authorize_path(response_type="token"))
    [back] = re.findall(r'href="(https://program\.example/callback[^"]*)"', page.content.decode())
    sent = dict(parse_qsl(urlsplit(unescape(back)).query))

    assert (page.status_code, "Go back to program.example" in words(page)) == (400, True)
    assert (sent["error"], sent["state"], sent["iss"]) == ("unsupported_response_type", "the program's state", API)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": "ocl_unknown"},
        {"client_id": "nul\0"},
        {"redirect_uri": "https://program.example/other"},
        {"redirect_uri": "https://program.example/callback?more=1"},
        {"redirect_uri": "https://program.example:444/callback"},
        {"redirect_uri": "https://elsewhere.example/callback"},
        {"redirect_uri": "http://program.example/callback"},
        {"redirect_uri": ["https://program.example/callback", "https://elsewhere.example/callback"]},
    ],
)
def test_a_wrong_client_or_redirect_uri_is_told_to_the_person_only(
    browser: Client, program: Program, changes: dict[str, Any]
) -> None:
    page = browser.get(program.authorize_path(**changes))

    assert page.status_code == 400
    assert "cannot be connected" in words(page)


@pytest.mark.parametrize("registered", ["http://127.0.0.1/cb", "http://localhost:1234/cb", "http://[::1]:9/cb"])
def test_a_loopback_redirect_may_use_any_port(browser: Client, registered: str) -> None:
    program = Program(callback=registered)
    program.register()
    host = str(urlsplit(registered).hostname)
    program.callback = f"http://{f'[{host}]' if ':' in host else host}:50123/cb"
    answer = decide(browser, program.authorize_path())

    assert answer["location"].startswith(f"{program.callback}?code=")
    assert program.exchange(sent_to_program(answer)["code"]).status_code == 200


def test_another_loopback_host_or_path_is_refused(browser: Client) -> None:
    program = Program(callback="http://127.0.0.1/cb")
    program.register()
    for other in ("http://localhost/cb", "http://127.0.0.1:5/other", "http://127.0.0.2/cb", "http://127.0.0.1:5/cb#x"):
        assert browser.get(program.authorize_path(redirect_uri=other)).status_code == 400


def test_a_code_needs_its_verifier_client_and_redirect_uri(browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path())["code"]
    other = Program()
    other.register()

    refused = [
        program.exchange(code, code_verifier="x" * 43),
        program.exchange(code, code_verifier=None),
        program.exchange(code, client_id=other.client_id),
        program.exchange(code, redirect_uri="https://program.example/other"),
        program.exchange(code[:-1]),
    ]
    assert {answer.status_code for answer in refused} == {400}
    assert {answer.json()["error"] for answer in refused} <= {"invalid_grant", "invalid_request"}
    assert program.exchange(code, client_id="ocl_unknown").status_code == 401
    assert not OAuthToken.objects.exists()
    assert program.exchange(code, redirect_uri=None).status_code == 200  # OAuth 2.1 no longer needs it here


def test_a_code_expires_after_a_minute(browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path())["code"]
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert program.exchange(code).json()["error"] == "invalid_grant"


def test_a_code_used_twice_ends_everything(browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path(resource=API))["code"]
    issued = program.exchange(code).json()

    assert program.exchange(code).json()["error"] == "invalid_grant"
    assert ApiClient(issued["access_token"]).get("/capabilities").status_code == 401
    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    ended = AuditEntry.objects.get(operation="oauth.end_grant")
    assert ended.metadata["reason"] == "authorization_code_reused"


@pytest.mark.parametrize("grant_type", ["password", "client_credentials", "implicit", "", "authorization_code2"])
def test_other_grant_types_are_refused(program: Program, grant_type: str) -> None:
    answer = program.send("/oauth/token", {"grant_type": grant_type, "client_id": program.client_id, "username": "a"})

    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


def test_unknown_parameters_are_ignored(browser: Client, program: Program) -> None:
    inner = {"client": "x", "user": "x", "extra_credentials": "x", "response_mode": "fragment", "grant": "x", "scopes": "x"}
    answer = decide(browser, program.authorize_path(**inner))

    assert "#" not in answer["location"]
    assert program.exchange(sent_to_program(answer)["code"], **inner).status_code == 200


def test_endpoints_take_forms_by_post_only(program: Program) -> None:
    got = program.http.get("/oauth/token")
    as_json = program.http.post("/oauth/token", "{}", content_type="application/json")

    assert (got.status_code, got["allow"], got.json()["error"]) == (405, "POST", "invalid_request")
    assert (as_json.status_code, as_json.json()["error"]) == (415, "invalid_request")
    assert got["x-trace-id"]
