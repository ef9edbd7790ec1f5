from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Authorization, Connection, Published
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import post, publish
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import LIST, VERIFY
from tests.fakes.mastodon_oauth import REGISTER, REVOKE, TOKEN

REDIRECT = "https://publish.example/dashboard/connect/callback"
SCOPES = {"read:accounts", "read:statuses", "write:statuses", "write:media"}
APPLICATION = {"client_id": "id", "client_secret": "secret"}


def authorize(mastodon: Mastodon, address: str) -> Authorization:
    return mastodon.authorize(state="a-state", redirect_uri=REDIRECT, given={"instance": address})


def exchange(mastodon: Mastodon, begun: Authorization, code: str) -> Connection:
    [connection] = mastodon.exchange(code=code, redirect_uri=REDIRECT, stored=begun.stored)
    return connection


@pytest.fixture
def begun(mastodon: Mastodon, server: FakeMastodon) -> Authorization:
    server.add_account("alice")
    return authorize(mastodon, server.url)


@pytest.fixture
def connection(mastodon: Mastodon, server: FakeMastodon, begun: Authorization) -> Connection:
    return exchange(mastodon, begun, server.grant(begun.url, "alice"))


def test_the_service_registers_and_asks_for_no_more_than_it_needs(server: FakeMastodon, begun: Authorization) -> None:
    [application] = server.applications()
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(begun.url).query).items()}

    assert (application.name, application.website) == ("Social Publishing Service", "https://publish.example")
    assert (list(application.redirect_uris), set(application.scopes)) == ([REDIRECT], SCOPES)
    assert begun.url.startswith(f"{server.url}/oauth/authorize?")
    assert (asked["state"], asked["client_id"], set(asked["scope"].split())) == (
        "a-state",
        application.client_id,
        SCOPES,
    )
    assert application.client_secret not in begun.url
    assert begun.stored["code_verifier"] not in begun.url
    assert application.client_secret not in repr(begun)


def test_the_operator_names_the_application(mastodon: Mastodon, server: FakeMastodon, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {
        "MASTODON_CLIENT_NAME": "Our posts",
        "MASTODON_CLIENT_WEBSITE": "https://posts.example/about",
    }

    authorize(mastodon, server.url)

    [application] = server.applications()
    assert (application.name, application.website) == ("Our posts", "https://posts.example/about")


def test_the_code_connects_the_account(server: FakeMastodon, connection: Connection) -> None:
    host = f"127.0.0.1:{server.port}"
    [application] = server.applications()

    assert connection.identity.external_id == f"{server.account_id('alice')}@{host}"
    assert connection.identity.handle == f"alice@{host}"
    assert set(connection.scopes) == SCOPES
    grant = connection.grant
    assert (grant.credentials, grant.external_id, grant.expires_at) == ({}, connection.identity.external_id, None)
    assert set(grant.tokens) == {"instance", "account", "access_token", "client_id", "client_secret"}
    assert server.tokens_of("alice")[grant.tokens["access_token"]] == SCOPES
    assert (grant.tokens["client_id"], grant.tokens["client_secret"]) == (
        application.client_id,
        application.client_secret,
    )


def test_a_token_that_was_granted_opens_and_publishes(
    mastodon: Mastodon, server: FakeMastodon, connection: Connection
) -> None:
    assert mastodon.identify(connection.grant) == connection.identity
    assert isinstance(publish(mastodon, connection.grant, post("Hello")), Published)
    assert [status["text"] for status in server.statuses("alice")] == ["Hello"]


def test_revoking_ends_the_token_at_its_server_once_and_for_all(
    mastodon: Mastodon, server: FakeMastodon, connection: Connection
) -> None:
    for _ in range(2):
        mastodon.revoke(connection.grant)

    assert connection.grant.tokens["access_token"] not in server.tokens_of("alice")
    assert server.requests_to(REVOKE) == 2


def test_a_server_that_is_away_revokes_nothing_and_says_so(
    mastodon: Mastodon, server: FakeMastodon, connection: Connection
) -> None:
    server.fail_next(REVOKE)

    with pytest.raises(Transient):
        mastodon.revoke(connection.grant)


def test_a_code_is_good_once_and_for_its_own_connection(
    mastodon: Mastodon, server: FakeMastodon, begun: Authorization
) -> None:
    code, other = server.grant(begun.url, "alice"), authorize(mastodon, server.url)
    exchange(mastodon, begun, code)
    foreign = server.grant(begun.url, "alice")

    for attempt, given in [(begun, code), (begun, "guessed"), (other, foreign)]:
        with pytest.raises(CredentialsRejected) as caught:
            exchange(mastodon, attempt, given)
        assert caught.value.suggested_action == "Begin the connection again."


def test_an_application_that_the_server_has_forgotten_is_registered_by_beginning_again(
    mastodon: Mastodon, server: FakeMastodon, begun: Authorization
) -> None:
    code = server.grant(begun.url, "alice")
    server.forget_applications()

    with pytest.raises(CredentialsRejected) as caught:
        exchange(mastodon, begun, code)
    assert caught.value.suggested_action == "Begin the connection again."


def test_a_server_that_takes_no_registrations_says_so(mastodon: Mastodon, server: FakeMastodon) -> None:
    server.close_registration()

    with pytest.raises(CredentialsRejected) as caught:
        authorize(mastodon, server.url)

    assert "does not let this service register" in caught.value.message
    assert "access token" in caught.value.suggested_action


@pytest.mark.parametrize("instance", ["http://mastodon.social", "mastodon", "10.0.0.1", "https://user:pw@m.example"])
def test_an_instance_that_is_not_allowed_is_refused(mastodon: Mastodon, instance: str) -> None:
    with pytest.raises(CredentialsRejected):
        authorize(mastodon, instance)


@pytest.mark.parametrize("call", [REGISTER, TOKEN, VERIFY, LIST])
def test_an_outage_is_a_passing_fault(
    mastodon: Mastodon, server: FakeMastodon, begun: Authorization, call: str
) -> None:
    code = server.grant(begun.url, "alice")
    server.fail_next(call, status=503)

    with pytest.raises(Transient):
        exchange(mastodon, authorize(mastodon, server.url) if call == REGISTER else begun, code)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>Welcome</html>"),
        Answer(404, b"<html>Not found</html>"),
        Answer.of_json({}),
        Answer.of_json({**APPLICATION, "client_id": 7}),
        Answer.of_json({**APPLICATION, "client_id": "two words"}),
        Answer.of_json({**APPLICATION, "client_secret": "x" * 513}),
    ],
)
def test_a_server_that_is_none_of_mastodons_kind_is_rejected(
    mastodon: Mastodon, scripted: ScriptedServer, answer: Answer
) -> None:
    scripted.answers[REGISTER] = answer

    with pytest.raises(CredentialsRejected):
        authorize(mastodon, scripted.url)


@pytest.mark.parametrize("token", [7, "", "two\r\nlines", "x" * 513, None])
def test_a_token_that_is_none_is_rejected(mastodon: Mastodon, scripted: ScriptedServer, token: Any) -> None:
    scripted.answers |= {
        REGISTER: Answer.of_json(APPLICATION),
        TOKEN: Answer.of_json({"access_token": token, "token_type": "Bearer"}),
    }

    with pytest.raises(CredentialsRejected):
        exchange(mastodon, authorize(mastodon, scripted.url), "a-code")
    assert VERIFY not in scripted.asked


def test_nothing_is_said_as_somebody_before_there_is_a_token(server: FakeMastodon, begun: Authorization) -> None:
    [registration] = [request for request in server.requests if request.path == "/api/v1/apps"]

    assert "authorization" not in registration.headers


def test_the_schema_asks_for_the_instance_alone() -> None:
    schema = Mastodon.oauth_schema
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)

    given: list[dict[str, Any]] = [
        {"instance": "m.example"},
        {},
        {"instance": ""},
        {"instance": "m", "access_token": "x"},
    ]
    assert [jsonschema.Draft202012Validator(schema).is_valid(each) for each in given] == [True, False, False, False]
