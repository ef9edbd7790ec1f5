"""Which tokens of the provider authenticate API requests: access tokens of people, and of programs if allowed."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.agents.oidc_calls import answer_to
from tests.config.test_errors import assert_envelope
from tests.fakes.openid import AUDIENCE, CLIENT_ID, FakeOpenIdProvider
from tests.workspaces.browsers import ALICE, sign_in
from workspaces.models import User

pytestmark = pytest.mark.django_db


def of_alice(provider: FakeOpenIdProvider, *, typ: str | None = "JWT", **claims: Any) -> str:
    """Return an access token of alice with this `typ` header; claims that are None are left out."""
    times = provider.times()
    defaults = {"aud": AUDIENCE, "sub": "alice", **times, "auth_time": times["iat"], "client_id": CLIENT_ID}
    return provider.signed({**defaults, **claims}, typ=typ)


@pytest.mark.parametrize(
    ("typ", "status"),
    [
        ("at+jwt", 200),
        ("AT+JWT", 200),
        ("application/at+jwt", 200),
        ("JWT", 401),
        (None, 401),
        ("logout+jwt", 401),
        ("at+jwt2", 401),
    ],
)
def test_an_access_token_is_recognized_by_its_typ_header(provider: FakeOpenIdProvider, typ: str | None, status: int) -> None:
    answer = answer_to(of_alice(provider, typ=typ, scope="posts"))

    assert answer.status_code == status
    assert User.objects.exists() is (status == 200)
    if status == 401:
        assert_envelope(answer, 401, "UNAUTHENTICATED")
        assert "at+jwt" in answer.json()["message"]


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"scope": "posts"}, 200),
        ({"scope": "openid posts profile"}, 200),
        ({"scope": ["openid", "posts"]}, 200),
        ({"scp": "posts"}, 200),
        ({"scp": ["posts"]}, 200),
        ({}, 401),
        ({"scope": "posts.read"}, 401),
        ({"scope": "openid"}, 401),
        ({"scp": {"posts": True}}, 401),
        ({"scope": 7}, 401),
    ],
)
def test_an_access_token_is_recognized_by_the_required_scope(
    provider: FakeOpenIdProvider, settings: Any, claims: dict[str, Any], status: int
) -> None:
    settings.OIDC_REQUIRED_SCOPE = "posts"
    answer = answer_to(of_alice(provider, typ="JWT", **claims))

    assert answer.status_code == status
    if status == 401:
        assert "`posts`" in answer.json()["message"]
    assert answer_to(of_alice(provider, typ="at+jwt")).status_code == 200


@pytest.mark.parametrize("claim", ["nonce", "at_hash", "c_hash"])
@pytest.mark.parametrize("typ", ["at+jwt", "JWT"])
def test_an_id_token_is_never_accepted_by_the_api(provider: FakeOpenIdProvider, settings: Any, claim: str, typ: str) -> None:
    settings.OIDC_REQUIRED_SCOPE = "posts"
    answer = answer_to(of_alice(provider, typ=typ, scope="posts", **{claim: "x"}))

    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert "ID token" in answer.json()["message"]
    assert not User.objects.exists()


def test_the_id_token_of_a_sign_in_does_not_open_the_api_where_audience_and_client_are_one(
    provider: FakeOpenIdProvider, settings: Any
) -> None:
    settings.OIDC_AUDIENCE = CLIENT_ID
    sign_in(provider, "alice")

    assert provider.id_tokens
    assert_envelope(answer_to(provider.id_tokens[-1]), 401, "UNAUTHENTICATED")
    assert answer_to(provider.access_token("alice", aud=CLIENT_ID)).status_code == 200


CLIENTS: dict[str, dict[str, Any]] = {
    "the subject is the client_id": {},
    "the subject is the azp": {"client_id": None, "azp": "robot"},
    "Okta": {"client_id": None, "cid": "robot"},
    "Microsoft Entra": {"client_id": None, "sub": "8b1f", "appid": "robot", "idtyp": "app"},
    "Auth0": {"client_id": None, "sub": "robot@clients", "azp": "robot", "gty": "client-credentials"},
    "Keycloak": {
        "client_id": "Robot",
        "azp": "Robot",
        "sub": "2b6f",
        "acr": "1",
        "preferred_username": "service-account-robot",
    },
    "with the claims of a person": {**ALICE},
}


@pytest.mark.parametrize("claims", CLIENTS.values(), ids=CLIENTS)
def test_a_client_credentials_token_is_refused_by_default(provider: FakeOpenIdProvider, claims: dict[str, Any]) -> None:
    answer = answer_to(provider.client_token("robot", **claims))

    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert "client credentials" in answer.json()["message"]
    assert "API key" in answer.json()["suggested_action"]
    assert not User.objects.exists()


@pytest.mark.parametrize("claims", CLIENTS.values(), ids=CLIENTS)
def test_a_client_credentials_token_works_with_a_program_user(
    provider: FakeOpenIdProvider, settings: Any, claims: dict[str, Any]
) -> None:
    settings.OIDC_ALLOW_CLIENT_CREDENTIALS = True
    token = provider.client_token("robot", **claims)
    assert_envelope(answer_to(token), 401, "UNAUTHENTICATED")
    assert not User.objects.exists()

    call_command("add_program", claims.get("sub", "robot"), name="Robot", verbosity=0)
    assert answer_to(token).status_code == 200
    assert User.objects.get().display_name == "Robot"

    settings.OIDC_ALLOW_CLIENT_CREDENTIALS = False
    assert_envelope(answer_to(token), 401, "UNAUTHENTICATED")


def test_add_program_creates_one_user_and_needs_the_settings(provider: FakeOpenIdProvider, settings: Any) -> None:
    with pytest.raises(CommandError, match="OIDC_ALLOW_CLIENT_CREDENTIALS"):
        call_command("add_program", "robot", name="Robot")
    settings.OIDC_ALLOW_CLIENT_CREDENTIALS = True
    call_command("add_program", "robot", name="Robot", verbosity=0)

    with pytest.raises(CommandError, match="already"):
        call_command("add_program", "robot", name="Robot")
    assert User.objects.count() == 1


def test_a_token_without_claims_about_a_person_creates_no_user(provider: FakeOpenIdProvider) -> None:
    bare = provider.access_token("alice", auth_time=None)
    answer = answer_to(bare)
    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert "Sign in" in answer.json()["suggested_action"]
    assert not User.objects.exists()

    sign_in(provider, "alice")
    assert answer_to(bare).status_code == 200


@pytest.mark.parametrize(
    "claims", [{"email": "a@example.com"}, {"name": "Alice"}, {"preferred_username": "alice"}, {"amr": ["pwd"]}]
)
def test_a_token_with_claims_about_a_person_creates_the_user(provider: FakeOpenIdProvider, claims: dict[str, Any]) -> None:
    assert answer_to(provider.access_token("alice", auth_time=None, **claims)).status_code == 200
    assert User.objects.get().identity_subject == "alice"
