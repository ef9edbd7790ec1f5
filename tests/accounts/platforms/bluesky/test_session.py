"""Bluesky sessions are renewed with the refresh token or the app password, and ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import ReauthRequired, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.bluesky.conftest import HANDLE
from tests.accounts.platforms.bluesky.scripted_server import CREATE_SESSION, DELETE_SESSION, DID, SESSION, ScriptedServer
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer

GET_SESSION = "com.atproto.server.getSession"
REFRESH_SESSION = "com.atproto.server.refreshSession"


@pytest.fixture
def scripted_grant(scripted: ScriptedServer) -> Grant:
    return Grant(
        credentials={"identifier": HANDLE, "app_password": "x", "service": scripted.url},
        tokens={"access": "old-access", "refresh": "old-refresh", "pds": scripted.url},
        external_id=DID,
    )


def test_a_deactivated_account_is_disconnected(bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    scripted.answers[GET_SESSION] = Answer.of_json({"did": DID, "handle": HANDLE, "active": False})

    with pytest.raises(ReauthRequired):
        bluesky.check_and_identify(scripted_grant)


def test_tokens_are_renewed_with_the_refresh_token_even_after_a_lost_response(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.drop_next(REFRESH_SESSION)
    with pytest.raises(Transient):
        bluesky.refresh_grant(grant)

    renewed = bluesky.refresh_grant(bluesky.refresh_grant(grant))

    assert renewed.tokens["pds"] == pds.url
    assert renewed.credentials == grant.credentials
    assert bluesky.check_and_identify(renewed).external_id == grant.external_id
    assert pds.sessions_created == 1


def test_an_expired_refresh_token_is_replaced_by_a_sign_in_with_the_did(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()

    renewed = bluesky.refresh_grant(replace(grant, credentials={**grant.credentials, "identifier": "former-name.test"}))

    assert bluesky.check_and_identify(renewed).external_id == grant.external_id
    assert (pds.refreshes, pds.sessions_created) == (0, 2)


def test_a_revoked_app_password_disconnects_the_account(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.expire_refresh_tokens()

    with pytest.raises(ReauthRequired):
        bluesky.refresh_grant(replace(grant, credentials={**grant.credentials, "app_password": "revoked"}))


def test_an_account_that_was_taken_down_is_not_signed_in_again(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.take_down(grant.external_id)

    with pytest.raises(ReauthRequired):
        bluesky.refresh_grant(grant)

    assert pds.requests_to(CREATE_SESSION) == 1


def test_tokens_of_another_account_are_rejected(bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    scripted.answers[REFRESH_SESSION] = Answer.of_json({**SESSION, "did": "did:plc:somebodyelse"})

    with pytest.raises(ReauthRequired):
        bluesky.refresh_grant(scripted_grant)


def test_an_account_that_moved_is_used_at_its_new_server(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    service = {"id": "#atproto_pds", "serviceEndpoint": "https://new-home.example"}
    scripted.answers[REFRESH_SESSION] = Answer.of_json({**SESSION, "didDoc": {"service": [service]}})

    assert bluesky.refresh_grant(scripted_grant).tokens["pds"] == "https://new-home.example"


def test_a_session_that_has_expired_is_ended(bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    scripted.answers[DELETE_SESSION] = Answer.of_json({"error": "ExpiredToken", "message": "no"}, 400)

    bluesky.revoke_grant(scripted_grant)

    assert scripted.calls == [DELETE_SESSION]
