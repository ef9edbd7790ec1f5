"""The documents by which programs find the OAuth server (RFC 8414, RFC 9728)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve

from tests.mcp.calls import send

SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"


def read(path: str) -> dict[str, Any]:
    answer: Any = Client().get(path)
    assert (answer.status_code, answer["content-type"]) == (200, "application/json")
    assert answer["x-trace-id"]
    return dict(answer.json())


def test_the_server_says_exactly_what_it_supports() -> None:
    document = read(SERVER)

    assert document["issuer"] == settings.BASE_URL
    assert document["grant_types_supported"] == [
        "authorization_code",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
    ]
    assert document["response_types_supported"] == ["code"]
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["token_endpoint_auth_methods_supported"] == ["none"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    assert not {"implicit", "password", "client_credentials", "plain", "offline_access"} & set(
        json.dumps(document).split('"')
    )


def test_every_endpoint_of_the_document_exists() -> None:
    for name, address in read(SERVER).items():
        if name.endswith("_endpoint"):
            assert resolve(address.removeprefix(settings.BASE_URL)), name


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_each_resource_names_its_server(path: str) -> None:
    document = read(f"{RESOURCE}{path}")

    assert document["resource"] == f"{settings.BASE_URL}{path}"
    assert document["authorization_servers"] == [settings.BASE_URL]
    assert document["bearer_methods_supported"] == ["header"]


def test_the_documents_are_read_only() -> None:
    answer: Any = Client().post(SERVER)

    assert (answer.status_code, answer["allow"]) == (405, "GET, HEAD")


def test_the_mcp_endpoint_leads_to_its_document(db: None) -> None:
    answer = send(None, {})
    challenge = answer["www-authenticate"]

    assert answer.status_code == 401
    assert f'resource_metadata="{settings.BASE_URL}{RESOURCE}/mcp"' in challenge
    assert 'scope="posts.read ' in challenge
    assert "error=" not in challenge
    assert 'error="invalid_token"' in send("sps_oat_x", {})["www-authenticate"]
