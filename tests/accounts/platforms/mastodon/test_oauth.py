"""Connection by OAuth: the service registers an application at the account's server."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import AuthorizedAccount, OAuthAuthorizationRequest
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import REDIRECT, authorize, post, publish
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import VERIFY
from tests.fakes.mastodon_oauth import REGISTER, TOKEN

SCOPES = {"read:accounts", "read:statuses", "write:statuses", "write:media"}
APPLICATION = {"client_id": "id", "client_secret": "secret"}


def exchange(mastodon: Mastodon, begun: OAuthAuthorizationRequest, code: str) -> AuthorizedAccount:
    [connection] = mastodon.exchange_code_for_accounts(code=code, redirect_uri=REDIRECT, stored=begun.stored)
    return connection


@pytest.fixture
def begun(mastodon: Mastodon, server: FakeMastodon) -> OAuthAuthorizationRequest:
    server.add_account("alice")
    return authorize(mastodon, server.url)


def test_the_service_registers_and_requests_only_what_it_needs(
    server: FakeMastodon, begun: OAuthAuthorizationRequest
) -> None:
    [application] = server.applications()
    [registration] = [request for request in server.requests if server.call_of(request) == REGISTER]
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(begun.url).query).items()}

    assert "authorization" not in registration.headers
    assert (application.name, application.website) == ("Social Publishing Service", "https://publish.example")
    assert (list(application.redirect_uris), set(application.scopes)) == ([REDIRECT], SCOPES)
    assert begun.url.startswith(f"{server.url}/oauth/authorize?")
    assert (asked["client_id"], set(asked["scope"].split())) == (application.client_id, SCOPES)
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")


def test_the_operator_names_the_application(mastodon: Mastodon, server: FakeMastodon, settings: Settings) -> None:
    name, website = "Our posts", "https://posts.example/about"
    settings.PLATFORM_SETTINGS = {"MASTODON_CLIENT_NAME": name, "MASTODON_CLIENT_WEBSITE": website}

    authorize(mastodon, server.url)

    [application] = server.applications()
    assert (application.name, application.website) == (name, website)


def test_a_code_connects_an_account_that_publishes(
    mastodon: Mastodon, server: FakeMastodon, begun: OAuthAuthorizationRequest
) -> None:
    connection = exchange(mastodon, begun, server.grant(begun.url, "alice"))
    [application] = server.applications()

    grant = connection.grant
    assert set(connection.scopes) == SCOPES
    assert (grant.credentials, grant.expires_at) == ({}, None)
    assert grant.tokens == {
        "instance": server.url,
        "account": server.account_id("alice"),
        "access_token": grant.tokens["access_token"],
        "client_id": application.client_id,
        "client_secret": application.client_secret,
    }
    assert server.tokens_of("alice")[grant.tokens["access_token"]] == SCOPES
    publish(mastodon, grant, post("Hello"))
    assert [status["text"] for status in server.statuses("alice")] == ["Hello"]


def test_a_code_for_another_or_a_forgotten_application_needs_a_new_connection(
    mastodon: Mastodon, server: FakeMastodon, begun: OAuthAuthorizationRequest
) -> None:
    other, code = authorize(mastodon, server.url), server.grant(begun.url, "alice")
    with pytest.raises(CredentialsRejected) as caught:
        exchange(mastodon, other, code)
    assert caught.value.suggested_action == "Start the connection again."

    server.delete_applications()
    with pytest.raises(CredentialsRejected) as caught:
        exchange(mastodon, begun, code)
    assert caught.value.suggested_action == "Start the connection again."


def test_a_server_may_not_allow_registrations(mastodon: Mastodon, server: FakeMastodon) -> None:
    server.close_registration()

    with pytest.raises(CredentialsRejected, match="does not let this service register") as caught:
        authorize(mastodon, server.url)

    assert "access token" in caught.value.suggested_action


@pytest.mark.parametrize("change", [{"client_id": 7}, {"client_id": "two words"}, {"client_secret": "x" * 513}])
def test_an_invalid_registration_is_rejected(mastodon: Mastodon, scripted: ScriptedServer, change: dict[str, Any]) -> None:
    scripted.answers[REGISTER] = Answer.of_json({**APPLICATION, **change})

    with pytest.raises(CredentialsRejected):
        authorize(mastodon, scripted.url)


@pytest.mark.parametrize("token", [7, "", "two\r\nlines", "x" * 513, None])
def test_an_invalid_token_is_rejected_before_it_is_used(mastodon: Mastodon, scripted: ScriptedServer, token: Any) -> None:
    answers = {REGISTER: APPLICATION, TOKEN: {"access_token": token, "token_type": "Bearer"}}
    scripted.answers |= {call: Answer.of_json(answer) for call, answer in answers.items()}

    with pytest.raises(CredentialsRejected):
        exchange(mastodon, authorize(mastodon, scripted.url), "a-code")
    assert VERIFY not in scripted.calls
