from __future__ import annotations

import socket
from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import CredentialsRejected, RateLimited, Transient
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


def scripted_credentials(server: ScriptedServer) -> dict[str, str]:
    return {"identifier": "alice.test", "app_password": "secret-secret", "service": server.url}


def test_an_app_password_connects_the_account(bluesky: Bluesky, pds: FakeBluesky) -> None:
    did = pds.add_account(HANDLE, APP_PASSWORD)
    credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url + "/"}

    connection = bluesky.connect(credentials)

    assert connection.identity.external_id == did
    assert connection.identity.handle == HANDLE
    assert connection.identity.profile_url == f"https://bsky.app/profile/{did}"
    assert connection.grant.external_id == did
    assert connection.grant.credentials == credentials
    assert set(connection.grant.tokens) == {"access", "refresh", "pds"}
    assert connection.grant.tokens["pds"] == pds.url
    assert pds.sessions_created == 1


def test_a_server_without_profiles_leaves_name_and_picture_empty(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    identity = bluesky.connect(credentials).identity

    assert (identity.display_name, identity.avatar_url) == ("", "")
    assert pds.requests_to(GET_PROFILE) == 1


def test_name_and_picture_come_from_the_profile(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json(SESSION)
    scripted.answers[GET_PROFILE] = Answer.of_json({"displayName": "Alice", "avatar": "https://cdn.example/a.jpg"})

    identity = bluesky.connect(scripted_credentials(scripted)).identity

    assert (identity.display_name, identity.avatar_url) == ("Alice", "https://cdn.example/a.jpg")
    assert scripted.requests[-1].query == {"actor": SESSION["did"]}


def test_a_hostile_profile_is_cut_down_to_harmless_text(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json({**SESSION, "handle": "not a handle"})
    scripted.answers[GET_PROFILE] = Answer(
        200, b'{"displayName": "A\\u0000\\n\\ud800' + b"x" * 5000 + b'", "avatar": "javascript:alert(1)"}'
    )

    identity = bluesky.connect(scripted_credentials(scripted)).identity

    assert identity.display_name == "A   …"
    assert identity.avatar_url == ""
    assert identity.handle == SESSION["did"]


def test_the_service_is_the_operators_when_the_owner_names_none(
    bluesky: Bluesky, pds: FakeBluesky, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {"BLUESKY_API_BASE": pds.url}
    did = pds.add_account(HANDLE, APP_PASSWORD)

    connection = bluesky.connect({"identifier": f"@{HANDLE} ", "app_password": APP_PASSWORD})

    assert connection.identity.external_id == did


def test_the_accounts_own_server_is_the_one_that_the_did_document_names(bluesky: Bluesky, pds: FakeBluesky) -> None:
    did = pds.add_account(HANDLE, APP_PASSWORD)
    with ScriptedServer() as entryway:
        document = {
            "service": [
                "nonsense",
                {"id": "#atproto_labeler", "serviceEndpoint": "https://labels.example"},
                {"id": f"{did}#atproto_pds", "serviceEndpoint": pds.url + "/"},
            ]
        }
        entryway.answers[CREATE_SESSION] = Answer.of_json({**SESSION, "did": did, "didDoc": document})
        connection = bluesky.connect(scripted_credentials(entryway))

        assert entryway.asked == [CREATE_SESSION]
    assert connection.grant.tokens["pds"] == pds.url
    assert pds.requests_to(GET_PROFILE) == 1


def test_the_service_stands_in_where_the_did_document_is_missing(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.announce_endpoint(None)

    assert bluesky.connect(credentials).grant.tokens["pds"] == pds.url


@pytest.mark.parametrize("endpoint", ["https://10.0.0.1", "https://169.254.169.254/latest", "file:///etc/passwd", "x"])
def test_a_did_document_cannot_lead_the_service_to_an_inner_address(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str], endpoint: str
) -> None:
    pds.announce_endpoint(endpoint)

    with pytest.raises(CredentialsRejected):
        bluesky.connect(credentials)


@pytest.mark.parametrize(
    "service",
    [
        "http://bsky.social",
        "https://10.0.0.1",
        "https://[::1]",
        "https://user:pw@bsky.social",
        "bsky.social",
        "https://a b",
    ],
)
def test_a_service_address_that_is_not_allowed_is_refused(bluesky: Bluesky, settings: Settings, service: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    with pytest.raises(CredentialsRejected):
        bluesky.connect({"identifier": HANDLE, "app_password": APP_PASSWORD, "service": service})


def test_a_service_that_does_not_answer_is_a_passing_fault(bluesky: Bluesky) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        service = f"http://127.0.0.1:{unused.getsockname()[1]}"

        with pytest.raises(Transient):
            bluesky.connect({"identifier": HANDLE, "app_password": APP_PASSWORD, "service": service})


@pytest.mark.parametrize("wrong", [{"app_password": "wrong-wrong"}, {"identifier": "mallory.test"}])
def test_wrong_credentials_are_rejected_in_our_own_words(
    bluesky: Bluesky, credentials: dict[str, str], wrong: dict[str, str]
) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        bluesky.connect({**credentials, **wrong})

    assert caught.value.message == "Bluesky does not accept this identifier with this app password."


def test_the_accounts_own_password_with_a_second_factor_is_answered_with_advice(
    bluesky: Bluesky, scripted: ScriptedServer
) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json({"error": "AuthFactorTokenRequired", "message": "sent"}, 401)

    with pytest.raises(CredentialsRejected) as caught:
        bluesky.connect(scripted_credentials(scripted))

    assert caught.value.suggested_action == "Make an app password in Bluesky's settings and connect with that."


def test_the_accounts_own_password_is_refused_and_its_session_is_ended(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.add_account("bob.test", APP_PASSWORD, main_password="correct horse")

    with pytest.raises(CredentialsRejected) as caught:
        bluesky.connect({**credentials, "identifier": "bob.test", "app_password": "correct horse"})

    assert caught.value.message.startswith("This is the account's own password.")
    assert caught.value.suggested_action == "Make an app password in Bluesky's settings and connect with that."
    assert (pds.sessions_created, pds.requests_to(DELETE_SESSION)) == (1, 1)
    assert bluesky.connect({**credentials, "identifier": "bob.test"}).identity.handle == "bob.test"


def test_the_accounts_own_password_is_refused_though_its_session_cannot_be_ended(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.add_account("bob.test", APP_PASSWORD, main_password=APP_PASSWORD[::-1])  # of an app password's form
    pds.drop_next(DELETE_SESSION)

    with pytest.raises(CredentialsRejected, match="own password"):
        bluesky.connect({**credentials, "identifier": "bob.test", "app_password": APP_PASSWORD[::-1]})


@pytest.mark.parametrize("claims", [None, "!", "e30", "W10", "eyJzY29wZSI6ImNvbS5hdHByb3RvLmFwcFBhc3NQcml2aWxlZ2VkIn0"])
def test_a_token_that_does_not_name_the_own_password_is_taken(
    bluesky: Bluesky, scripted: ScriptedServer, claims: str | None
) -> None:
    token = "opaque" if claims is None else f"e30.{claims}.x"
    scripted.answers[CREATE_SESSION] = Answer.of_json({**SESSION, "accessJwt": token})

    assert bluesky.connect(scripted_credentials(scripted)).grant.tokens["access"] == token


def test_a_deactivated_account_is_not_connected(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json({**SESSION, "active": False, "status": "deactivated"})

    with pytest.raises(CredentialsRejected):
        bluesky.connect(scripted_credentials(scripted))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b""),
        Answer(200, b"[]"),
        Answer(404, b"<html>Not found</html>"),
        Answer(302, b"", {"Location": "http://127.0.0.1:1/"}),
        Answer.of_json({**SESSION, "did": "root"}),
        Answer.of_json({**SESSION, "did": None}),
        Answer.of_json({**SESSION, "accessJwt": "two\r\nlines"}),
        Answer.of_json({**SESSION, "refreshJwt": 7}),
        Answer(200, b"[" * 100_000),
    ],
)
def test_a_server_that_is_none_of_the_protocol_is_rejected(
    bluesky: Bluesky, scripted: ScriptedServer, answer: Answer
) -> None:
    scripted.answers[CREATE_SESSION] = answer

    with pytest.raises(CredentialsRejected):
        bluesky.connect(scripted_credentials(scripted))


def test_an_endless_answer_is_not_read_to_its_end(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    scripted.answers[CREATE_SESSION] = Answer.of_json({**SESSION, "padding": "x" * 300_000})

    with pytest.raises(Transient):
        bluesky.connect(scripted_credentials(scripted))


def test_the_sign_in_limit_says_when_to_come_again(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.rate_limit_next(1, retry_after=42)

    with pytest.raises(RateLimited) as caught:
        bluesky.connect(credentials)

    assert caught.value.retry_after == 42.0


def test_an_outage_of_the_server_is_a_passing_fault(
    bluesky: Bluesky, pds: FakeBluesky, credentials: dict[str, str]
) -> None:
    pds.fail_next(CREATE_SESSION, status=503)

    with pytest.raises(Transient):
        bluesky.connect(credentials)


def test_no_fault_names_the_password(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    credentials = scripted_credentials(scripted)
    faults: list[Exception] = []
    for status, name in ((401, "AuthenticationRequired"), (429, ""), (500, ""), (503, "")):
        scripted.answers[CREATE_SESSION] = Answer.of_json({"error": name, "message": "no"}, status)
        with pytest.raises((CredentialsRejected, Transient)) as caught:
            bluesky.connect(credentials)
        faults.append(caught.value)

    assert not any("secret-secret" in f"{fault!r} {fault.__cause__!r}" for fault in faults)


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
def test_the_credentials_schema_takes_what_is_needed_and_nothing_else(given: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(Bluesky.credentials_schema)

    assert jsonschema.Draft202012Validator(Bluesky.credentials_schema).is_valid(given) is valid
