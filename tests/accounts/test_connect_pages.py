"""The dashboard pages for connecting accounts by OAuth."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount, ConnectionAttempt
from auditlog.models import AuditEntry
from tests import factories
from tests.accounts.browser import Browser, text_of
from tests.accounts.oauth_calls import PAGE, Granted, complete, granted
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.oauth_platform import EXCHANGE, FakeOAuthPlatform
from workspaces.models import Member, User, Workspace


@pytest.fixture
def asked(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> Granted:
    """A granted connection that the workspace's API key began."""
    return granted(api, workspace, provider)


def assert_asks(page: Any, *, attached: int = 0) -> None:
    """Assert that the page asks for confirmation and that nothing is attached yet."""
    assert page.status_code == 200
    assert "Connect this account" in text_of(page)
    assert ConnectedAccount.objects.count() == attached


def assert_not_connected(page: Any, status: int, words: str) -> None:
    """Assert that the page says that nothing was connected, and why."""
    assert page.status_code == status
    assert "Nothing was connected" in text_of(page)
    assert words in text_of(page)
    assert not ConnectedAccount.objects.exists()


def test_the_browser_that_began_is_connected_at_once(owner: User, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)

    page = browser.land(brought)

    [account] = ConnectedAccount.objects.all()
    assert (page.status_code, account.handle, account.method) == (200, "alice", "oauth")
    assert "Pinterest is connected" in text_of(page)
    assert "alice" in text_of(page)
    assert workspace.name in text_of(page)
    entry = AuditEntry.objects.get(operation="accounts.complete_connection")
    assert (entry.actor_type, entry.actor_id, entry.resource_id) == ("user", owner.id, account.id)


def test_loading_the_page_again_shows_the_same_and_connects_nothing_more(
    owner: User, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)

    pages = [browser.land(brought) for _ in range(2)]

    assert text_of(pages[0]) == text_of(pages[1])
    assert provider.requests_to(EXCHANGE) == 1
    assert AuditEntry.objects.filter(operation="accounts.complete_connection").count() == 1
    assert browser.land(Granted(brought.state, "another")).status_code == 422


def test_another_browser_of_the_same_person_asks_for_confirmation(
    owner: User, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    """Somebody may have sent the address to them: it is not the browser that went to the platform."""
    brought = Browser(owner).begin_and_grant(workspace, provider)
    other = Browser(owner)

    assert_asks(other.land(brought))
    assert "Pinterest is connected" in text_of(other.confirm(brought))
    assert ConnectedAccount.objects.count() == 1


def test_a_connection_begun_by_an_api_key_is_shown_and_confirmed(owner: User, workspace: Workspace, asked: Granted) -> None:
    browser = Browser(owner)

    page = browser.land(asked)

    assert_asks(page)
    for shown in (workspace.name, workspace.id, "API key “A key”", "Pinterest", "alice", "Alice"):
        assert shown in text_of(page)
    assert page["cache-control"].startswith("max-age=0, no-cache, no-store")
    assert "Pinterest is connected" in text_of(browser.confirm(asked))
    account = ConnectedAccount.objects.get()
    entry = AuditEntry.objects.get(operation="accounts.complete_connection")
    assert (entry.actor_id, entry.resource_id) == (owner.id, account.id)


def test_an_agents_request_names_the_agent(
    owner: User, agent_client: Any, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    page = Browser(owner).land(granted(agent_client(["accounts.write"]), workspace, provider))

    assert "The agent “Robot” asked for this connection" in text_of(page)


def test_an_admin_may_confirm(teammate: User, asked: Granted) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    assert "Pinterest is connected" in text_of(Browser(teammate).confirm(asked))


def test_the_initiator_may_complete_by_the_api_after_the_page_asked_for_confirmation(
    api: ApiClient, owner: User, asked: Granted, provider: FakeOAuthPlatform
) -> None:
    assert_asks(Browser(owner).land(asked))

    assert complete(api, asked).json()["account"]["handle"] == "alice"
    assert provider.requests_to(EXCHANGE) == 1


@pytest.mark.parametrize("who", ["teammate", "stranger"])
def test_another_user_cannot_be_tricked_into_connecting(
    request: pytest.FixtureRequest, owner: User, asked: Granted, provider: FakeOAuthPlatform, who: str
) -> None:
    """A person who was sent to the platform by somebody else's link gives nothing away: the code is not even exchanged."""
    browser = Browser(request.getfixturevalue(who))

    page = browser.land(asked)

    assert_not_connected(page, 403 if who == "teammate" else 404, "may not connect accounts in the workspace")
    assert "Do not pass the address of this page on" in text_of(page)
    assert "Workshop" not in text_of(page)
    assert not provider.requests
    entry = AuditEntry.objects.latest("pk")
    assert (entry.operation, entry.outcome) == ("accounts.complete_connection", "refused")
    assert "Pinterest is connected" in text_of(Browser(owner).confirm(asked))


def test_the_initiator_cannot_take_the_grant_of_another_person(
    owner: User, stranger: User, provider: FakeOAuthPlatform
) -> None:
    """The one who began never sees the code that the platform gave to the other's browser."""
    theirs = stranger.owned_workspaces.get()
    client = ApiClient(factories.workspace_key(theirs))
    brought = granted(client, theirs, provider)
    Browser(owner).land(brought)

    for guessed in ("", "guessed"):
        assert Browser(stranger).land(Granted(brought.state, guessed)).status_code == 422
    assert_envelope(complete(client, Granted(brought.state, "guessed")), 422, "OAUTH_STATE_INVALID")
    assert not ConnectedAccount.objects.exists()


def test_a_missing_state_or_code_uses_nothing_up(owner: User, asked: Granted, provider: FakeOAuthPlatform) -> None:
    assert Browser(owner).land(Granted(asked.state, "")).status_code == 422
    assert not provider.requests
    assert "Pinterest is connected" in text_of(Browser(owner).confirm(asked))


def test_an_anonymous_person_signs_in_first(asked: Granted, provider: FakeOAuthPlatform) -> None:
    answer = Browser().land(asked)

    assert (answer.status_code, answer["location"].partition("?")[0]) == (302, "/dashboard/sign-in")
    assert not provider.requests


def test_the_form_needs_its_csrf_token(owner: User, asked: Granted) -> None:
    browser = Browser(owner)
    browser.land(asked)

    assert browser.confirm(asked, token="forged").status_code == 403
    assert browser.http.post("/dashboard/connect", {}).status_code == 403
    assert not ConnectedAccount.objects.exists()


def test_the_person_chooses_one_of_several_accounts(owner: User, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    provider.add_account("bob")
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)

    page = browser.land(brought)

    assert_asks(page)
    assert re.findall(r'type="radio" name="choice" value="([^"]+)"', page.content.decode()) == ["id-alice", "id-bob"]
    assert "bob" in text_of(browser.confirm(brought, "id-bob"))
    assert_asks(browser.land(brought), attached=1)
    assert "alice" in text_of(browser.confirm(brought, "id-alice"))
    assert ConnectedAccount.objects.count() == 2


def test_a_choice_that_was_not_shown_attaches_nothing(owner: User, asked: Granted) -> None:
    for choice in ("id-eve", ""):
        assert Browser(owner).confirm(asked, choice).status_code == 422
    assert not ConnectedAccount.objects.exists()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("error=access_denied&state=x", "access was not granted (access_denied)."),
        ("error=user_cancelled_login&error_description=Call+0900", "access was not granted (user_cancelled_login)."),
        ("error=%3Cscript%3Ealert(1)%3C/script%3E", "access was not granted."),
    ],
)
def test_a_denied_grant_is_shown(db: None, query: str, words: str) -> None:
    page = Browser().http.get(f"{PAGE}?{query}")

    assert_not_connected(page, 200, words)
    assert "0900" not in text_of(page)
    assert "<script>" not in page.content.decode()


def test_after_a_denial_the_same_connection_can_be_granted(
    owner: User, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)
    browser.http.get(f"{PAGE}?error=access_denied&state={brought.state}")

    assert "Pinterest is connected" in text_of(browser.land(brought))


@pytest.mark.parametrize("query", ["", "state=x", "code=x", "state=x&code=y", "state=%00&code=%00"])
def test_an_unknown_state_is_refused(owner: User, query: str) -> None:
    assert_not_connected(Browser(owner).http.get(f"{PAGE}?{query}"), 422, "belongs to no connection that is still open")


def test_an_expired_state_is_refused(owner: User, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    with time_machine.travel(datetime.now(UTC)) as clock:
        browser = Browser(owner)
        brought = browser.begin_and_grant(workspace, provider)
        clock.shift(timedelta(minutes=10, seconds=1))
        assert_not_connected(browser.land(brought), 422, "belongs to no connection that is still open")


def test_an_unreachable_platform_is_shown_and_the_page_can_be_loaded_again(
    owner: User, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    browser = Browser(owner)
    brought = browser.begin_and_grant(workspace, provider)
    provider.fail_next(EXCHANGE)

    assert_not_connected(browser.land(brought), 502, "Try again in a minute.")
    assert "Pinterest is connected" in text_of(browser.land(brought))


def test_names_from_a_platform_are_escaped(owner: User, asked: Granted, provider: FakeOAuthPlatform) -> None:
    provider.add_account('<img src=x onerror="alert(1)">')

    page = Browser(owner).land(asked).content.decode()

    assert "&lt;img src=x" in page
    assert "<img src=x" not in page
    assert not re.search(r"<script>|<style| style=| on\w+=", page.replace("&lt;img src=x onerror=", ""))


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"workspace_id": "wrk_x"}, 422),
        ({"platform": "bluesky"}, 422),
        ({"platform": ""}, 422),
        ({"instance": "x"}, 422),
        ({"workspace_id": "wrk_\0"}, 422),
    ],
)
def test_a_connection_that_cannot_be_begun_is_refused_with_the_reason(
    owner: User, workspace: Workspace, provider: FakeOAuthPlatform, fields: dict[str, str], status: int
) -> None:
    assert_not_connected(Browser(owner).begin(workspace, **fields), status, "")
    assert not ConnectionAttempt.objects.exists()


def test_members_and_strangers_may_not_begin_a_connection(
    workspace: Workspace, provider: FakeOAuthPlatform, teammate: User, stranger: User
) -> None:
    assert Browser(teammate).begin(workspace).status_code == 403
    assert Browser(stranger).begin(workspace).status_code == 422
    assert Browser(stranger).http.get("/dashboard/connect").status_code == 405
    assert not ConnectionAttempt.objects.exists()
