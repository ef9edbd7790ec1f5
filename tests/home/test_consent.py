"""The consent page, on which an owner or admin lets a program act as a new agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from accounts.models import ConnectedAccount
from agents.models import Agent, OAuthGrant
from auditlog.models import AuditEntry
from tests import factories
from tests.conftest import ApiClient
from tests.oauth_programs import Program, allow, browser_of, decide, sent_to_program
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def program(db: None) -> Program:
    made = Program()
    made.register(client_name="Claude")
    return made


@pytest.fixture
def browser(workspace: Workspace, owner: User) -> Client:
    return browser_of(owner)


def test_the_page_says_who_asks_for_what(browser: Client, program: Program, workspace: Workspace) -> None:
    page = browser.get(program.authorize_path())
    shown = words(page)

    assert "Allow Claude to post for you?" in shown
    assert "Unknown. It chose its name itself." in shown
    assert "Returns to program.example" in shown
    assert f"In {workspace.name}" in shown
    assert "Publish posts" in shown
    assert "form-action 'self' https:;" in page["content-security-policy"]
    assert (page["x-frame-options"], page["cache-control"].startswith("max-age=0")) == ("DENY", True)


def test_a_program_on_the_computer_is_marked_as_such(browser: Client) -> None:
    local = Program(callback="http://127.0.0.1:4000/callback")
    local.register()
    page = browser.get(local.authorize_path())

    assert "program on this computer" in words(page)
    assert "form-action 'self' http://127.0.0.1:*;" in page["content-security-policy"]


def test_the_first_choices_are_careful(browser: Client, program: Program, account: ConnectedAccount) -> None:
    form = form_of(browser.get(program.authorize_path()))

    assert form["default_mode"] == "requires_confirmation"
    assert (form["accounts_from"], form["accounts"]) == ("chosen", account.id)
    assert (form["monthly_spend"], form["expires_on"]) == ("5.00", "2027-06-08")


def test_the_agent_has_what_the_owner_chose(
    browser: Client, program: Program, workspace: Workspace, account: ConnectedAccount
) -> None:
    factories.AccountFactory(workspace=workspace, external_id="another", handle="another")
    choices = {
        "name": "Press desk",
        "default_mode": "draft",
        "accounts_from": "chosen",
        "accounts": [account.id],
        "monthly_spend": "12.50",
        "expires_on": "2027-03-31",
    }
    allow(browser, program.authorize_path(scope="posts.read posts.draft openid"), **choices)

    agent = Agent.objects.get()
    assert (agent.name, agent.default_mode, agent.account_allowlist) == ("Press desk", "draft", [account.id])
    assert (agent.monthly_spend_cap_cents, agent.scopes) == (1250, ["posts.read", "posts.draft"])
    assert agent.oauth_grant.expires_at == datetime(2027, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("default_mode", "dry_run"),
        ("monthly_spend", ""),
        ("monthly_spend", "-1"),
        ("expires_on", ""),
        ("expires_on", "2027-03-09"),
        ("expires_on", "2028-03-11"),
        ("name", ""),
        ("accounts", "acc_of_another_workspace"),
    ],
)
def test_wrong_choices_are_shown_again(
    browser: Client, program: Program, account: ConnectedAccount, field: str, value: str
) -> None:
    page = decide(browser, program.authorize_path(), **{field: value})

    assert (page.status_code, has_form(page)) == (422, True)
    assert not Agent.objects.exists()


def test_cancel_sends_the_program_away(browser: Client, program: Program) -> None:
    sent = sent_to_program(decide(browser, program.authorize_path(), "cancel"))

    assert (sent["error"], sent["state"]) == ("access_denied", "the program's state")
    assert not Agent.objects.exists()
    assert AuditEntry.objects.filter(operation="oauth.deny").count() == 1


def test_a_form_sent_twice_makes_one_agent(browser: Client, program: Program) -> None:
    path = program.authorize_path()
    form = {**form_of(browser.get(path)), "decision": "allow"}
    first, second = (browser.post(path, form) for _ in range(2))

    assert (first.status_code, second.status_code) == (302, 200)
    assert "connected now" in words(second)
    assert Agent.objects.count() == 1


def test_a_form_of_another_site_does_nothing(browser: Client, program: Program) -> None:
    answer = browser.post(program.authorize_path(), {"decision": "allow"})

    assert (answer.status_code, answer["content-type"]) == (403, "text/html; charset=utf-8")
    assert not Agent.objects.exists()


def test_somebody_who_is_not_signed_in_signs_in_first(program: Program) -> None:
    path = program.authorize_path()
    answer = Client().get(path)

    assert urlsplit(answer["location"]).path == "/dashboard/sign-in"
    assert parse_qs(urlsplit(answer["location"]).query)["next"] == [path]


def test_an_old_sign_in_is_renewed_first(clock: time_machine.Traveller, browser: Client, program: Program) -> None:
    path = program.authorize_path()
    form = form_of(browser.get(path))
    clock.shift(timedelta(minutes=11))
    answers = [browser.get(path), browser.post(path, {**form, "decision": "allow"})]

    for answer in answers:
        assert urlsplit(answer["location"]).path == "/dashboard/sign-in/again"
        assert parse_qs(urlsplit(answer["location"]).query)["next"] == [path]
    assert not Agent.objects.exists()


def test_only_owners_and_admins_can_allow(program: Program, workspace: Workspace, teammate: User, stranger: User) -> None:
    path = program.authorize_path()
    refused = browser_of(teammate).get(path)
    assert (refused.status_code, "whose owner or admin you are" in words(refused)) == (403, True)

    elsewhere = browser_of(stranger)
    page = elsewhere.get(f"{path}&workspace_id={workspace.id}")
    assert form_of(page)["workspace_id"] != workspace.id
    elsewhere.post(path, {**form_of(page), "workspace_id": workspace.id, "decision": "allow"})
    assert not Agent.objects.filter(workspace=workspace).exists()

    Member.objects.filter(user=teammate).update(role="admin")
    allow(browser_of(teammate), path)
    assert Agent.objects.get(workspace=workspace).owner_user == workspace.owner_user


def test_the_owner_of_several_workspaces_chooses_one(
    browser: Client, program: Program, owner: User, workspace: Workspace
) -> None:
    other = factories.WorkspaceFactory(owner_user=owner, name="Another")
    account = factories.AccountFactory(workspace=other)
    path = program.authorize_path()
    page = browser.get(f"{path}&workspace_id={other.id}")

    assert (form_of(page)["workspace_id"], form_of(page)["accounts"]) == (other.id, account.id)
    assert f'<option value="{workspace.id}">' in page.content.decode()
    allow(browser, f"{path}&workspace_id={other.id}")
    assert Agent.objects.get().workspace == other


def test_a_paused_workspace_cannot_be_chosen(browser: Client, program: Program, workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")

    assert browser.get(program.authorize_path()).status_code == 403


def test_the_limit_of_agents_holds(browser: Client, program: Program, workspace: Workspace) -> None:
    Agent.objects.bulk_create(factories.AgentFactory.build_batch(100, workspace=workspace, owner_user=workspace.owner_user))
    page = decide(browser, program.authorize_path())

    assert (page.status_code, "already has 100 agents" in words(page)) == (409, True)
    assert AuditEntry.objects.get(operation="oauth.allow").code == "CONFLICT"
    assert not OAuthGrant.objects.exists()


def test_the_agents_page_shows_the_program_and_ends_its_access(
    browser: Client, program: Program, workspace: Workspace, owner: User
) -> None:
    token = program.connect(browser, resource=settings.BASE_URL)["access_token"]
    agent, pages = Agent.objects.get(), Pages(workspace, owner)
    assert ApiClient(token).get("/capabilities").status_code == 200

    listed = words(pages.get("agents"))
    assert "Connected" in listed
    assert "Claude, which returned to program.example" in listed
    assert "last seen 10 Mar, 12:00" in listed
    shown = words(pages.get("agent", agent_id=agent.id))
    assert "Its connection" in shown
    assert "has no key" not in shown
    ended = pages.post("agent-disconnect", agent_id=agent.id, follow=True)
    assert "The connection has ended." in words(ended)
    assert not has_form(ended, pages.address("agent-disconnect", agent_id=agent.id))
    assert "Disconnected" in words(pages.get("agents"))
    assert ApiClient(token).get("/capabilities").status_code == 401
    assert Agent.objects.get().status == "active"


def test_members_and_strangers_cannot_end_a_connection(
    browser: Client, program: Program, workspace: Workspace, teammate: User, stranger: User
) -> None:
    token = program.connect(browser, resource=settings.BASE_URL)["access_token"]
    agent = Agent.objects.get()

    Pages(workspace, teammate).post("agent-disconnect", agent_id=agent.id)
    assert Pages(workspace, stranger).post("agent-disconnect", agent_id=agent.id).status_code == 404
    assert not has_form(Pages(workspace, teammate).get("agent", agent_id=agent.id))
    assert ApiClient(token).get("/capabilities").status_code == 200
    assert AuditEntry.objects.filter(operation="oauth.end_grant", outcome="refused").count() == 2


def test_a_program_that_asks_again_is_connected_as_the_agent_it_was(
    browser: Client, program: Program, workspace: Workspace
) -> None:
    first = program.connect(browser, resource=settings.BASE_URL)
    Agent.objects.update(name="Press desk", default_mode="draft", monthly_spend_cap_cents=700, scopes=["posts.read"])
    path = program.authorize_path(resource=settings.BASE_URL)
    page = browser.get(path)
    agent = Agent.objects.get()
    assert form_of(page)["agent_id"] == agent.id
    assert "Press desk , as before, still connected Writes drafts · $7.00 a month See posts" in words(page)

    sent = sent_to_program(decide(browser, path, name="Ignored", default_mode="allow_publish", monthly_spend=""))
    again = program.exchange(sent["code"]).json()

    assert again["scope"] == "posts.read"
    assert [ApiClient(each["access_token"]).get("/capabilities").status_code for each in (first, again)] == [401, 200]
    assert program.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    kept = Agent.objects.get()
    assert (kept.id, kept.name, kept.default_mode, kept.monthly_spend_cap_cents) == (agent.id, "Press desk", "draft", 700)
    assert AuditEntry.objects.get(operation="oauth.end_grant").metadata["reason"] == "replaced"
    assert [each.metadata["reconnected"] for each in AuditEntry.objects.filter(operation="oauth.allow").order_by("pk")] == [
        False,
        True,
    ]


def test_a_program_that_asks_again_can_become_a_new_agent(browser: Client, program: Program, workspace: Workspace) -> None:
    first = program.connect(browser, resource=settings.BASE_URL)
    allow(browser, program.authorize_path(), agent_id="new")

    assert Agent.objects.count() == 2
    assert ApiClient(first["access_token"]).get("/capabilities").status_code == 200


def test_other_agents_cannot_be_connected_again(
    browser: Client, program: Program, workspace: Workspace, stranger: User
) -> None:
    program.connect(browser)
    own = Agent.objects.get()
    other_program = Program()
    other_program.register()
    other_program.connect(browser)
    program.connect(browser_of(stranger))
    revoked = factories.AgentFactory(workspace=workspace)
    Agent.objects.filter(pk=own.id).update(status="revoked")

    path = program.authorize_path()
    assert form_of(browser.get(path))["agent_id"] == "new"
    for agent in Agent.objects.all():
        assert decide(browser, path, agent_id=agent.id).status_code == 422
    assert Agent.objects.exclude(pk=revoked.id).count() == OAuthGrant.objects.count() == 3


def test_an_agent_without_a_program_has_no_connection_to_end(workspace: Workspace, owner: User) -> None:
    agent = factories.AgentFactory(workspace=workspace)
    answer = Pages(workspace, owner).post("agent-disconnect", agent_id=agent.id, follow=True)

    assert "There is no such connection." in words(answer)
