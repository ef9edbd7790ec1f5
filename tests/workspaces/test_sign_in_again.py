"""A recent sign-in is needed in the dashboard for changes of keys, members and workspaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client

from agents.models import Agent, ApiKey
from auditlog.models import AuditEntry
from tests import factories
from tests.fakes.openid import FakeOpenIdProvider
from tests.pages import Pages, form_of, words
from tests.workspaces.browsers import ALICE, begin, person, send_form, sign_in, signed_in, use_provider
from workspaces.models import Invitation, Member, User, Workspace
from workspaces.sign_in.sessions import AUTHENTICATED_AT

AGAIN, HELD = "/dashboard/sign-in/again", "/dashboard/sign-in/continue"
NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
KEY_FORM: dict[str, Any] = {"name": "Press desk", "scopes": ["posts.read", "posts.publish"], "expires_at": ""}


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[FakeOpenIdProvider]:
    with FakeOpenIdProvider() as fake:
        fake.add_person("alice", **ALICE)
        fake.add_person("bob", email="bob@example.com")
        use_provider(settings, fake)
        yield fake


@pytest.fixture
def alice(provider: FakeOpenIdProvider) -> Client:
    """The browser of a workspace's owner, signed in by the provider's own session without a password."""
    browser = Client(headers={"user-agent": "Firefox"})
    sign_in_plainly(provider, "alice", browser)
    factories.WorkspaceFactory(owner_user=person(provider, "alice"))
    return browser


def sign_in_plainly(provider: FakeOpenIdProvider, subject: str, browser: Client) -> None:
    browser.get(provider.sign_in(begin(browser), subject))
    assert signed_in(browser)


def workspace_pages(browser: Client) -> Pages:
    pages = Pages(Workspace.objects.get(), None)
    pages.http = browser
    return pages


def sign_in_again(provider: FakeOpenIdProvider, browser: Client, page: str, subject: str = "alice") -> Any:
    """Sign in again from the dashboard's page and return the callback's response."""
    sent = send_form(browser, page, AGAIN, next=parse_qs(urlsplit(page).query)["next"][0])
    assert sent.status_code == 302, sent.content
    return browser.get(provider.sign_in(sent["Location"], subject))


def submit_saved_form(browser: Client) -> Any:
    """Submit the saved form from its page, as a browser does."""
    page = browser.get(HELD)
    action = re.search(r'<form method="post" action="(/dashboard/workspaces[^"]+)"', page.content.decode())
    assert action, words(page)
    return browser.post(action[1], form_of(page, action[1]))


def test_the_form_for_a_key_is_shown_after_a_new_sign_in(provider: FakeOpenIdProvider, alice: Client) -> None:
    form = workspace_pages(alice).address("api-key-new")
    asked = alice.get(form)
    assert asked.status_code == 303
    assert parse_qs(urlsplit(asked["Location"]).query)["next"] == [form]
    shown = words(alice.get(asked["Location"]))
    assert "need a sign-in within the last 10 minutes" in shown
    answer = sign_in_again(provider, alice, asked["Location"])

    assert (answer.status_code, answer["Location"]) == (302, form)
    assert alice.get(form).status_code == 200


def test_the_provider_is_asked_to_authenticate_the_user_again(provider: FakeOpenIdProvider, alice: Client) -> None:
    page = f"{AGAIN}?next=/dashboard/"
    query = parse_qs(urlsplit(send_form(alice, page, AGAIN, next="/dashboard/")["Location"]).query)
    assert (query["prompt"], query["max_age"]) == (["login"], ["0"])

    plain = parse_qs(urlsplit(begin(Client(enforce_csrf_checks=True))).query)
    assert "prompt" not in plain
    assert "max_age" not in plain


def test_a_new_sign_in_is_recent_for_ten_minutes(
    provider: FakeOpenIdProvider, alice: Client, clock: time_machine.Traveller, settings: Any
) -> None:
    form = workspace_pages(alice).address("api-key-new")
    sign_in_again(provider, alice, f"{AGAIN}?next={form}")
    clock.shift(timedelta(minutes=10))
    assert alice.get(form).status_code == 200
    assert alice.get(f"{AGAIN}?next={form}")["Location"] == form  # there is nothing to ask
    clock.shift(timedelta(seconds=1))
    assert alice.get(form).status_code == 303
    settings.REAUTHENTICATE_MINUTES = 0
    assert alice.get(form).status_code == 200


def test_a_form_is_saved_and_submitted_after_the_new_sign_in(
    provider: FakeOpenIdProvider, alice: Client, clock: time_machine.Traveller
) -> None:
    pages = workspace_pages(alice)
    sign_in_again(provider, alice, f"{AGAIN}?next={pages.address('api-key-new')}")
    form = form_of(pages.get("api-key-new")) | KEY_FORM
    clock.shift(timedelta(minutes=11))
    asked = pages.post("api-key-new", form)
    assert asked.status_code == 303
    assert not ApiKey.objects.exists()
    assert sign_in_again(provider, alice, asked["Location"])["Location"] == HELD
    assert "Create the API key" in alice.get(HELD).content.decode()
    made = submit_saved_form(alice)

    assert made.status_code == 200
    [key] = ApiKey.objects.all()
    assert (key.name, key.scopes) == ("Press desk", ["posts.read", "posts.publish"])
    assert alice.get(HELD)["Location"] == "/dashboard/"  # it is held no longer
    entries = AuditEntry.objects.filter(operation="api_keys.create").order_by("pk")
    assert [entry.code for entry in entries] == ["REAUTHENTICATION_REQUIRED", None]


def test_after_a_saved_form_the_browser_returns_to_its_page(provider: FakeOpenIdProvider, alice: Client) -> None:
    pages = workspace_pages(alice)
    factories.workspace_key(pages.workspace)
    row = ApiKey.objects.get()
    came_from = f"{pages.address('api-keys')}?cursor="
    address = pages.address("api-key-revoke", api_key_id=row.pk)
    asked = alice.post(address, headers={"referer": f"http://testserver{came_from}"})
    sign_in_again(provider, alice, asked["Location"])
    done = submit_saved_form(alice)

    assert ApiKey.objects.get().revoked_at is not None
    assert (done.status_code, done["Location"]) == (303, came_from)


# The route, the id that it takes, and the form.
ACTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "change a role": ("member-role", "user_id", {"role": "admin"}),
    "remove a member": ("member-remove", "user_id", {}),
    "invite": ("member-invite", "", {"email": "carol@example.com", "role": "admin"}),
    "hand over": ("member-hand-over", "", {}),
    "delete the workspace": ("settings-delete", "", {}),
    "revoke a key": ("api-key-revoke", "api_key_id", {}),
    "rotate an agent's key": ("agent-rotate-key", "agent_id", {}),
    "revoke an agent": ("agent-revoke", "agent_id", {}),
    "make a key": ("api-key-new", "", KEY_FORM),
    "make an agent": ("agent-new", "", {"name": "Robot"}),
}


@pytest.mark.parametrize(("name", "part", "form"), ACTIONS.values(), ids=ACTIONS)
def test_nothing_is_changed_by_an_old_sign_in(alice: Client, name: str, part: str, form: dict[str, Any]) -> None:
    pages = workspace_pages(alice)
    workspace = pages.workspace
    agent = factories.AgentFactory.create(workspace=workspace)
    factories.workspace_key(workspace)
    member = User.objects.create_user("member")
    Member.objects.create(workspace=workspace, user=member, role="member")
    ids = {"user_id": member.pk, "api_key_id": ApiKey.objects.get().pk, "agent_id": agent.pk}
    filled = {"user_id": member.pk, "deletion-name": workspace.name, "key": "a-key-of-a-form", **form}
    before = state()
    answer = pages.post(name, filled, **({part: ids[part]} if part else {}))

    assert (answer.status_code, answer["Location"].split("?")[0]) == (303, AGAIN)
    assert state() == before


def state() -> list[Any]:
    models = (ApiKey, Agent, Member, Invitation, Workspace)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_signing_in_as_another_user_changes_nothing(provider: FakeOpenIdProvider, alice: Client) -> None:
    answer = sign_in_again(provider, alice, f"{AGAIN}?next=/dashboard/", subject="bob")

    assert answer.status_code == 403
    assert "signed in as another user" in answer.content.decode()
    assert alice.session["_auth_user_id"] == person(provider, "alice").pk
    assert alice.get(workspace_pages(alice).address("api-key-new")).status_code == 303


@pytest.mark.parametrize("auth_time", [None, int(NOON.timestamp()) - 700, "x"])
def test_a_sign_in_without_auth_time_is_not_accepted(provider: FakeOpenIdProvider, alice: Client, auth_time: Any) -> None:
    provider.id_token_extra = {"auth_time": auth_time}
    answer = sign_in_again(provider, alice, f"{AGAIN}?next=/dashboard/")

    assert answer.status_code == 403
    assert "auth_time" in answer.content.decode()
    assert alice.get(workspace_pages(alice).address("api-key-new")).status_code == 303


def test_a_sign_in_with_an_old_auth_time_is_not_accepted(
    provider: FakeOpenIdProvider, alice: Client, clock: time_machine.Traveller
) -> None:
    provider.ignores_prompt = True
    clock.shift(timedelta(minutes=11))

    assert sign_in_again(provider, alice, f"{AGAIN}?next=/dashboard/").status_code == 403


def test_a_first_sign_in_with_auth_time_is_recent(provider: FakeOpenIdProvider) -> None:
    provider.id_token_extra = {"auth_time": int(NOON.timestamp()) - 60}
    browser = sign_in(provider, "alice").client
    factories.WorkspaceFactory(owner_user=person(provider, "alice"))

    assert browser.get(workspace_pages(browser).address("api-key-new")).status_code == 200


def test_cancelling_the_new_sign_in_keeps_the_session(provider: FakeOpenIdProvider, alice: Client) -> None:
    sent = send_form(alice, f"{AGAIN}?next=/dashboard/", AGAIN, next="/dashboard/")
    state = parse_qs(urlsplit(sent["Location"]).query)["state"][0]
    answer = alice.get(f"/dashboard/sign-in/callback?error=access_denied&state={state}")

    assert answer.status_code == 403
    assert signed_in(alice)
    sign_in_plainly(provider, "bob", alice)  # an ordinary sign-in is one again


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", ""])
def test_the_next_page_must_belong_to_this_service(provider: FakeOpenIdProvider, alice: Client, wanted: str) -> None:
    sent = send_form(alice, f"{AGAIN}?next=/dashboard/", AGAIN, next=wanted)

    assert alice.get(provider.sign_in(sent["Location"], "alice"))["Location"] == "/dashboard/"


def test_in_development_one_click_confirms_the_user(owner: User, workspace: Workspace, clock: time_machine.Traveller) -> None:
    pages = Pages(workspace, owner)
    form = pages.address("api-key-new")
    assert pages.http.get(form).status_code == 200
    clock.shift(timedelta(minutes=11))
    asked = pages.http.get(form)["Location"]
    assert "Yes, it is me" in pages.http.get(asked).content.decode()
    answer = send_form(pages.http, asked, AGAIN, next=form)

    assert answer["Location"] == form
    assert pages.http.get(form).status_code == 200


def test_in_production_one_click_is_not_enough(
    owner: User, workspace: Workspace, settings: Any, clock: time_machine.Traveller
) -> None:
    pages = Pages(workspace, owner)
    clock.shift(timedelta(minutes=11))
    settings.PRODUCTION = True
    before = pages.http.session[AUTHENTICATED_AT]

    assert pages.http.post(AGAIN, {"next": "/dashboard/"}).status_code == 404
    assert pages.http.session[AUTHENTICATED_AT] == before


def test_an_operator_enters_the_password_again(db: None, clock: time_machine.Traveller) -> None:
    password = "correct horse battery staple"
    user = User.objects.create_superuser("operator", password)
    pages = Pages(factories.WorkspaceFactory(owner_user=user), None)
    pages.http.post("/admin/login/", {"username": "operator", "password": password})
    form = pages.address("api-key-new")
    clock.shift(timedelta(minutes=11))
    asked = pages.http.get(form)["Location"]
    door = send_form(pages.http, asked, AGAIN, next=form)["Location"]
    page = pages.http.get(door)

    assert door.startswith("/admin/login/?again=1")
    assert f'value="{form}"' in page.content.decode()
    answer = pages.http.post(door, {"username": "operator", "password": password, "next": form})
    assert answer["Location"] == form
    assert pages.http.get(form).status_code == 200


def test_a_form_that_is_too_large_is_not_saved(provider: FakeOpenIdProvider, alice: Client) -> None:
    asked = workspace_pages(alice).post("api-key-new", {**KEY_FORM, "name": "x" * 100_001})

    assert asked.status_code == 303
    assert alice.get(HELD)["Location"] == "/dashboard/"


def test_another_user_of_the_same_browser_gets_no_saved_form(provider: FakeOpenIdProvider, alice: Client) -> None:
    workspace_pages(alice).post("api-key-new", KEY_FORM)
    sign_in_plainly(provider, "bob", alice)

    assert alice.get(HELD)["Location"] == "/dashboard/"
