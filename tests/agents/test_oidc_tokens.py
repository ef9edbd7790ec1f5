"""The identity provider's JWTs as bearer tokens."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.agents.oidc_calls import OPEN_TO_ALL, answer_to, later
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.openid import AUDIENCE, CLIENT_ID, KEYS, FakeOpenIdProvider, new_key, unsigned
from tests.in_threads import in_threads
from tests.workspaces.browsers import ALICE, person, sign_in, use_provider
from workspaces.models import User


@pytest.mark.django_db
def test_a_signed_in_user_can_call_the_api(provider: FakeOpenIdProvider) -> None:
    sign_in(provider, "alice")
    alice = person(provider, "alice")
    client = ApiClient(provider.access_token("alice"))
    made = client.post("/workspaces", {"owner_user_id": alice.id, "name": "Alice's"})

    assert made.status_code == 201
    workspaces = client.get(f"/workspaces?owner_user_id={alice.id}").json()["workspaces"]
    assert workspaces == [made.json()["workspace"]]
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_first_token_creates_the_user_that_a_later_sign_in_finds(provider: FakeOpenIdProvider) -> None:
    assert answer_to(provider.access_token("alice", name="Alice", email="A@Example.com")).status_code == 200
    [made] = User.objects.all()
    assert (made.identity_issuer, made.identity_subject, made.display_name) == (provider.url, "alice", "Alice")
    assert (made.email, made.email_verified, made.is_staff) == ("a@example.com", False, False)

    assert answer_to(provider.access_token("alice")).status_code == 200
    sign_in(provider, "alice")
    assert User.objects.get().email == ALICE["email"]


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_first_tokens_create_one_user(provider: FakeOpenIdProvider) -> None:
    token = provider.access_token("alice")

    assert [answer.status_code for answer in in_threads(4, lambda _: answer_to(token))] == [200] * 4
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_an_existing_user_needs_one_query(provider: FakeOpenIdProvider) -> None:
    token = provider.access_token("alice")
    answer_to(token)
    with CaptureQueriesContext(connection) as queries:
        answer_to(token)

    assert len([query for query in queries if "workspaces_user" in query["sql"]]) == 1
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            [asked] = [query["sql"] for query in queries if "workspaces_user" in query["sql"]]
            cursor.execute(f"EXPLAIN QUERY PLAN {asked}")
            assert "user_identity_unique" in str(cursor.fetchall())


@pytest.mark.django_db
@pytest.mark.parametrize("algorithm", ["RS256", "PS256"])
def test_rsa_keys_are_accepted(settings: Any, algorithm: str) -> None:
    with FakeOpenIdProvider(algorithm=algorithm) as provider:
        use_provider(settings, provider)

        assert answer_to(provider.access_token("alice")).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("audience", [AUDIENCE, ["https://other.example", AUDIENCE]])
def test_the_audience_may_be_one_of_several(provider: FakeOpenIdProvider, audience: Any) -> None:
    assert answer_to(provider.access_token("alice", aud=audience)).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("times", "status"),
    [
        ({"exp": -29}, 200),
        ({"exp": -31}, 401),
        ({"nbf": 29}, 200),
        ({"nbf": 31}, 401),
        ({"iat": 29}, 200),
        ({"iat": 31}, 401),
    ],
)
def test_clocks_may_differ_by_half_a_minute(provider: FakeOpenIdProvider, times: dict[str, Any], status: int) -> None:
    with later():
        now = int(time.time())
        token = provider.access_token("alice", **{name: now + seconds for name, seconds in times.items()})

        assert answer_to(token).status_code == status


WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "https://other.example"},
    "the client's audience": {"aud": CLIENT_ID},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://other.example"},
    "no issuer": {"iss": None},
    "no expiry": {"exp": None},
    "an expiry that is no number": {"exp": "soon"},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is no text": {"sub": 7},
    "a subject with NUL": {"sub": "a\0b"},
    "a subject that is too long": {"sub": "x" * 256},
}


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_a_token_with_a_wrong_claim_is_refused(provider: FakeOpenIdProvider, wrong: dict[str, Any]) -> None:
    key = provider.keys[0]
    now = int(time.time())
    said = {"iss": provider.url, "aud": AUDIENCE, "sub": "alice", "exp": now + 3600, "auth_time": now, **wrong}
    claims = {name: value for name, value in said.items() if value is not None}
    token = jwt.api_jws.encode(_json(claims), key.private, key.algorithm, {"kid": key.kid, "typ": "at+jwt"})
    answer = answer_to(token)

    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert "identity provider" in answer.json()["suggested_action"]
    assert not User.objects.exists()


def _tampered(token: str) -> str:
    head, _, signature = token.split(".")
    other = jwt.api_jws.encode(_json({**_claims(token), "sub": "bob"}), "x" * 32, "HS256").split(".")[1]
    return f"{head}.{other}.{signature}"


def _public_key_as_secret(provider: FakeOpenIdProvider, token: str) -> str:
    public = provider.keys[0].private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = ".".join(unsigned(token, alg="HS256", kid="key-1").split(".")[:2])
    digest = hmac.new(public, signed.encode(), "sha256").digest()
    return f"{signed}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


FORGERIES: dict[str, Callable[[FakeOpenIdProvider, str], str]] = {
    "another subject": lambda provider, token: _tampered(token),
    "another key under a known id": lambda provider, token: provider.signed(_claims(token), new_key("key-1"), "at+jwt"),
    "a key of another kind under a known id": lambda provider, token: provider.signed(
        _claims(token), new_key("key-1", "RS256"), "at+jwt"
    ),
    "an unknown key": lambda provider, token: provider.signed(_claims(token), new_key("key-2"), "at+jwt"),
    "no signature": lambda provider, token: unsigned(token, alg="none", kid="key-1"),
    "no signature where one is claimed": lambda provider, token: unsigned(token, alg="ES256", kid="key-1"),
    "the public key as a secret": _public_key_as_secret,
    "an algorithm of nobody": lambda provider, token: unsigned(token, alg="XX999", kid="key-1"),
    "a key id that is no text": lambda provider, token: unsigned(token, alg="ES256", kid=["key-1"]),
    "no token": lambda provider, token: "a.b.c",
    "empty parts": lambda provider, token: "..",
}


@pytest.mark.django_db
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_token_is_refused(provider: FakeOpenIdProvider, forge: Callable[[FakeOpenIdProvider, str], str]) -> None:
    forged = forge(provider, provider.access_token("alice"))

    assert_envelope(answer_to(forged), 401, "UNAUTHENTICATED")
    assert not User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"use": "enc"}, {"alg": "ES384"}, {"kty": "oct", "k": "AAAA"}, {"x": "!"}, {"x": None}])
def test_a_published_key_for_another_use_is_not_accepted(provider: FakeOpenIdProvider, change: dict[str, Any]) -> None:
    provider.refuse_next(KEYS, Answer.of_json({"keys": [{**provider.keys[0].public(), **change}]}), times=2)

    assert_envelope(answer_to(provider.access_token("alice")), 401, "UNAUTHENTICATED")


@pytest.mark.django_db
def test_a_token_without_key_id_is_verified_by_the_only_key(provider: FakeOpenIdProvider) -> None:
    claims, key = _claims(provider.access_token("alice")), provider.keys[0]
    token = jwt.encode(claims, key.private, key.algorithm, {"typ": "at+jwt"})

    assert answer_to(token).status_code == 200


@pytest.mark.django_db
def test_without_an_audience_provider_tokens_are_refused(provider: FakeOpenIdProvider, settings: Any) -> None:
    settings.OIDC_AUDIENCE = ""

    assert_envelope(answer_to(provider.access_token("alice", aud="")), 401, "UNAUTHENTICATED")
    assert not provider.requests


@pytest.mark.django_db
def test_a_closed_account_is_refused(provider: FakeOpenIdProvider) -> None:
    answer_to(provider.access_token("alice"))
    User.objects.update(is_active=False)

    assert_envelope(answer_to(provider.access_token("alice")), 401, "UNAUTHENTICATED")


@pytest.mark.django_db
@pytest.mark.parametrize("rotated", [False, True])
def test_tokens_of_a_deleted_user_are_refused(provider: FakeOpenIdProvider, settings: Any, rotated: bool) -> None:
    with later():
        client = ApiClient(provider.access_token("alice", **ALICE))
        client.get(OPEN_TO_ALL)
        alice = person(provider, "alice")
    with later(seconds=10):
        undated = provider.access_token("alice", iat=None)
        assert client.delete(f"/users/{alice.id}").status_code == 200
    if rotated:
        settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50
    with later(seconds=20):
        for dead in (client.token, undated):
            assert_envelope(answer_to(dead or ""), 401, "UNAUTHENTICATED")
        assert User.objects.count() == 1

        assert answer_to(provider.access_token("alice")).status_code == 200  # they have come back since
        assert person(provider, "alice").id != alice.id


def _claims(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, options={"verify_signature": False}))


def _json(claims: dict[str, Any]) -> bytes:
    return json.dumps(claims).encode()
