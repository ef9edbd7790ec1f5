"""Bearer tokens over plain http are refused in production on every path."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from agents.models import ApiKey
from tests.config.test_errors import assert_envelope
from tests.conftest import OPERATORS_TOKEN, ApiClient

PATHS = [
    "/capabilities",
    "/posts",
    "/nowhere",
    "/openapi.json",
    "/healthz",
    "/readyz",
    "/ops/status",
    "/metrics",
    "/dashboard/",
]


@pytest.fixture(autouse=True)
def _production(settings: Any) -> None:
    """Apply production settings that accept the test client's Host."""
    settings.PRODUCTION = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_token_over_plain_http_is_refused(api: ApiClient, path: str, method: str) -> None:
    answer = api.request(method, path)

    assert_envelope(answer, 403, "FORBIDDEN")
    assert "plain http" in answer.json()["message"]
    assert "https" in answer.json()["suggested_action"]
    assert "replace" in answer.json()["suggested_action"]
    assert "Location" not in answer
    assert ApiKey.objects.get().last_used_at is None


@pytest.mark.parametrize("authorization", [f"Bearer {OPERATORS_TOKEN}", "Basic dXNlcjpwYXNz", "nonsense", ""])
def test_any_other_authorization_header_over_plain_http_is_refused(operator: ApiClient, authorization: str) -> None:
    answer = Client(headers={"authorization": authorization}).get("/ops/status")

    assert_envelope(answer, 403, "FORBIDDEN")


def test_a_token_over_https_is_accepted(api: ApiClient) -> None:
    assert api.get("/capabilities", x_forwarded_proto="https").status_code == 200
    assert_envelope(api.get("/capabilities", x_forwarded_proto="http"), 403, "FORBIDDEN")
    assert_envelope(api.get("/capabilities", x_forwarded_proto="http, https"), 403, "FORBIDDEN")


def test_a_request_without_a_token_is_redirected_to_https(db: None) -> None:
    answer = Client().get("/dashboard/sign-in")

    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/dashboard/sign-in")
    assert Client().get("/healthz").status_code == 200


def test_development_accepts_tokens_over_plain_http(api: ApiClient, settings: Any) -> None:
    settings.PRODUCTION = settings.SECURE_SSL_REDIRECT = False

    assert api.get("/capabilities").status_code == 200
