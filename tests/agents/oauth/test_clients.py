"""OAuth clients: registration (RFC 7591) and client ID metadata documents."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from agents.models import OAuthClient
from tests.fakes.client_documents import ClientDocuments
from tests.fakes.http_server import Answer
from tests.oauth_programs import DEVICE_CODE, Program, allow
from tests.pages import words


@pytest.fixture
def documents(settings: Any) -> Iterator[ClientDocuments]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with ClientDocuments() as server:
        yield server


def test_a_registration_answers_what_was_registered(db: None) -> None:
    answer = Program().register(client_name="Cla\u202eude\n", token_endpoint_auth_method="client_secret_basic", logo_uri="x")
    registered = answer.json()

    assert (answer.status_code, answer["cache-control"]) == (201, "no-store")
    assert registered["client_id"].startswith("ocl_")
    assert isinstance(registered.pop("client_id_issued_at"), int)
    assert registered == {
        "client_id": registered["client_id"],
        "client_name": "Claude",
        "redirect_uris": ["https://program.example/callback"],
        "grant_types": ["authorization_code", "refresh_token", DEVICE_CODE],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


@pytest.mark.parametrize(
    "uri",
    [
        "http://program.example/cb",
        "https://program.example/cb#fragment",
        "https://user@program.example/cb",
        "https://program.example\\@evil.example/cb",
        "https://program.example./cb",
        "https:///cb",
        "https://program.example/c b",
        "https://prográm.example/cb",
        "cursor://callback",
        "javascript:alert(1)",
        "http://127.0.0.1.evil.example/cb",
        "http://localhost:0/cb",
        "https://program.example/" + "x" * 2048,
    ],
)
def test_other_redirect_uris_cannot_be_registered(db: None, uri: str) -> None:
    answer = Program().register(redirect_uris=["https://program.example/cb", uri])

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/"] * 21}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://a.example/"}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"grant_types": ["refresh_token"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": 5}, "invalid_client_metadata"),
    ],
)
def test_metadata_that_cannot_be_registered(db: None, metadata: dict[str, Any], error: str) -> None:
    answer = Program().register(**metadata)

    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize("body", [b"[]", b"{", b"null"])
def test_a_body_that_is_no_object_is_refused(db: None, body: bytes) -> None:
    answer: Any = Client().post("/oauth/register", body, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_an_address_may_register_20_programs_an_hour(db: None) -> None:
    program = Program()
    statuses = [program.register().status_code for _ in range(21)]
    refused = program.register()

    assert statuses == [201] * 20 + [429]
    assert (refused.json()["error"], int(refused["retry-after"]) > 60) == ("temporarily_unavailable", True)
    assert Program().register().status_code == 201


def test_addresses_of_one_ipv6_network_share_the_limit(db: None) -> None:
    network = f"2001:db8:{secrets.randbelow(0x10000):x}:{secrets.randbelow(0x10000):x}:"
    statuses = [Program(address=f"{network}:{n + 1:x}").register().status_code for n in range(21)]

    assert statuses == [201] * 20 + [429]


def test_a_program_without_the_device_flow_cannot_begin_it(db: None) -> None:
    program = Program()
    program.register(grant_types=["authorization_code"])
    answer = program.begin_device_flow()

    assert (answer.status_code, answer.json()["error"]) == (400, "unauthorized_client")


def test_a_published_program_needs_no_registration(browser: Client, documents: ClientDocuments) -> None:
    program = Program(documents.publish())
    page = browser.get(program.authorize_path())

    assert "Published program" in words(page)
    assert "Published by 127.0.0.1" in words(page)
    assert program.exchange(allow(browser, program.authorize_path())["code"]).status_code == 200
    assert len(documents.requests) == 1
    with time_machine.travel(timezone.now() + timedelta(hours=1, seconds=1)):
        documents.publish(redirect_uris=["https://program.example/moved"])
        assert browser.get(program.authorize_path()).status_code in (302, 400)


def test_a_person_may_have_60_documents_read_in_an_hour(browser: Client, documents: ClientDocuments) -> None:
    statuses = [browser.get(Program(documents.publish(f"/{n}.json")).authorize_path()).status_code for n in range(61)]

    assert statuses == [200] * 60 + [429]
    assert (len(documents.requests), OAuthClient.objects.count()) == (60, 60)


def test_nobody_has_a_document_read_before_signing_in(db: None, documents: ClientDocuments) -> None:
    answer = Client().get(Program(documents.publish()).authorize_path())

    assert (answer.status_code, answer["location"].partition("?")[0]) == (302, "/dashboard/sign-in")
    assert documents.requests == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://elsewhere.example/client.json"},
        {"client_id": None},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": ["http://program.example/callback"]},
        {"client_name": "x" * 30_000},
    ],
)
def test_documents_that_are_refused(browser: Client, documents: ClientDocuments, changes: dict[str, Any]) -> None:
    page = browser.get(Program(documents.publish(**changes)).authorize_path())

    assert (page.status_code, "cannot be connected" in words(page)) == (400, True)
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize("answer", [Answer(404), Answer(302, b"", {"Location": "/client.json"}), Answer(200, b"[]")])
def test_answers_that_are_no_document(browser: Client, documents: ClientDocuments, answer: Answer) -> None:
    documents.publish()
    documents.answers["/other.json"] = answer

    assert browser.get(Program(f"{documents.url}/other.json").authorize_path()).status_code == 400


@pytest.mark.parametrize("path", ["", "/", "/a/../client.json", "/client.json#x"])
def test_addresses_that_name_no_document(browser: Client, documents: ClientDocuments, path: str) -> None:
    documents.publish()

    assert browser.get(Program(f"{documents.url}{path}").authorize_path()).status_code == 400
    assert documents.requests == ()


def test_loopback_documents_need_the_setting(browser: Client, documents: ClientDocuments, settings: Any) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    assert browser.get(Program(documents.publish()).authorize_path()).status_code == 400
    assert documents.requests == ()
