"""Bluesky accounts are connected by app password, at the server that their DID document names."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import CredentialsRejected
from tests.accounts.platforms.bluesky.conftest import APP_PASSWORD, HANDLE
from tests.accounts.platforms.bluesky.scripted_server import (
    CREATE_SESSION,
    DELETE_SESSION,
    GET_PROFILE,
    SESSION,
    ScriptedServer,
)
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer


def connect_scripted(bluesky: Bluesky, server: ScriptedServer, **session: Any) -> Any:
    server.answers.setdefault(CREATE_SESSION, Answer.of_json({**SESSION, **session}))
    return bluesky.connect_with_credentials(
        {"identifier": "alice.test", "app_password": "secret-secret", "service": server.url}
    )


@pytest.mark.parametrize("default", [True, False], ids=["operator's service", "owner's service"])
def test_an_app_password_connects_the_account(bluesky: Bluesky, pds: FakeBluesky, settings: Settings, default: bool) -> None:
    did = pds.add_account(HANDLE, APP_PASSWORD)
    settings.PLATFORM_SETTINGS = {"BLUESKY_API_BASE": pds.url if default else "https://bsky.example"}
    credentials = {"identifier": f"@{HANDLE} ", "app_password": APP_PASSWORD}
    credentials |= {} if default else {"service": pds.url + "/"}

    grant = bluesky.connect_with_credentials(credentials).grant

    assert (grant.external_id, grant.credentials) == (did, credentials)
    assert (set(grant.tokens), grant.tokens["pds"]) == ({"access", "refresh", "pds"}, pds.url)
    assert pds.sessions_created == 1


def test_name_and_picture_come_from_the_profile(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[GET_PROFILE] = Answer.of_json({"displayName": "Alice", "avatar": "https://cdn.example/a.jpg"})

    identity = connect_scripted(bluesky, scripted, handle="not a handle").identity

    assert (identity.display_name, identity.avatar_url) == ("Alice", "https://cdn.example/a.jpg")
    assert identity.handle == SESSION["did"]
    assert scripted.requests[-1].query == {"actor": SESSION["did"]}


def test_the_did_document_names_the_accounts_own_server(bluesky: Bluesky, pds: FakeBluesky) -> None:
    did = pds.add_account(HANDLE, APP_PASSWORD)
    services = [
        "nonsense",
        {"id": "#atproto_labeler", "serviceEndpoint": "https://labels.example"},
        {"id": f"{did}#atproto_pds", "serviceEndpoint": pds.url + "/"},
    ]
    with ScriptedServer() as entryway:
        connection = connect_scripted(bluesky, entryway, did=did, didDoc={"service": services})

        assert entryway.calls == [CREATE_SESSION]
    assert connection.grant.tokens["pds"] == pds.url
    assert pds.requests_to(GET_PROFILE) == 1


def test_without_a_did_document_the_service_is_the_accounts_server(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.announce_endpoint(None)

    assert bluesky.connect_with_credentials(credentials).grant.tokens["pds"] == pds.url


@pytest.mark.parametrize("endpoint", ["https://10.0.0.1", "https://169.254.169.254/latest", "file:///etc/passwd", "x"])
def test_a_did_document_cannot_name_an_internal_address(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str], endpoint: str
) -> None:
    pds.announce_endpoint(endpoint)

    with pytest.raises(CredentialsRejected):
        bluesky.connect_with_credentials(credentials)


@pytest.mark.parametrize(
    "service",
    ["http://bsky.social", "https://10.0.0.1", "https://[::1]", "https://user:pw@bsky.social", "bsky.social", "https://a b"],
)
def test_a_service_address_that_is_not_allowed_is_rejected(bluesky: Bluesky, settings: Settings, service: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    with pytest.raises(CredentialsRejected):
        bluesky.connect_with_credentials({"identifier": HANDLE, "app_password": APP_PASSWORD, "service": service})


@pytest.mark.parametrize("wrong", [{"app_password": "wrong-wrong"}, {"identifier": "mallory.test"}])
def test_wrong_credentials_are_rejected(bluesky: Bluesky, credentials: dict[str, str], wrong: dict[str, str]) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        bluesky.connect_with_credentials({**credentials, **wrong})

    assert caught.value.message == "Bluesky does not accept this identifier with this app password."


@pytest.mark.parametrize("ended", [True, False], ids=["session ended", "session not ended"])
def test_the_accounts_own_password_is_rejected_and_its_session_ended(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str], ended: bool
) -> None:
    own_password = APP_PASSWORD[::-1]  # with the format of an app password
    pds.add_account("bob.test", APP_PASSWORD, main_password=own_password)
    if not ended:
        pds.drop_next(DELETE_SESSION)

    with pytest.raises(CredentialsRejected) as caught:
        bluesky.connect_with_credentials({**credentials, "identifier": "bob.test", "app_password": own_password})

    assert caught.value.message.startswith("This is the account's own password.")
    assert caught.value.suggested_action == "Make an app password in Bluesky's settings and connect with that."
    assert (pds.sessions_created, pds.requests_to(DELETE_SESSION)) == (1, 1)
    assert bluesky.connect_with_credentials({**credentials, "identifier": "bob.test"}).identity.handle == "bob.test"


def test_a_request_for_a_second_factor_is_answered_with_advice(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json({"error": "AuthFactorTokenRequired", "message": "sent"}, 401)

    with pytest.raises(CredentialsRejected) as caught:
        connect_scripted(bluesky, scripted)

    assert caught.value.suggested_action == "Make an app password in Bluesky's settings and connect with that."


@pytest.mark.parametrize("claims", [None, "!", "e30", "W10", "eyJzY29wZSI6ImNvbS5hdHByb3RvLmFwcFBhc3NQcml2aWxlZ2VkIn0"])
def test_a_token_without_the_scope_of_the_own_password_is_accepted(
    bluesky: Bluesky, scripted: ScriptedServer, claims: str | None
) -> None:
    token = "opaque" if claims is None else f"e30.{claims}.x"

    assert connect_scripted(bluesky, scripted, accessJwt=token).grant.tokens["access"] == token


def test_a_deactivated_account_is_rejected(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    with pytest.raises(CredentialsRejected):
        connect_scripted(bluesky, scripted, active=False, status="deactivated")


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"identifier": "a.test", "app_password": "x"}, True),
        ({"identifier": "a.test", "app_password": "x", "service": "https://pds.example"}, True),
        ({"identifier": "a.test"}, False),
        ({"identifier": "", "app_password": "x"}, False),
        ({"identifier": "a.test", "app_password": "x", "password": "x"}, False),
        ({"identifier": "a.test", "app_password": 1}, False),
    ],
)
def test_the_schema_of_credentials(given: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(Bluesky.credentials_schema)

    assert jsonschema.Draft202012Validator(Bluesky.credentials_schema).is_valid(given) is valid
