from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import AccountDisconnected, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.bluesky.conftest import HANDLE
from tests.accounts.platforms.bluesky.scripted_server import CREATE_SESSION, DID, SESSION, ScriptedServer
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer

DELETE_SESSION = "com.atproto.server.deleteSession"
GET_SESSION = "com.atproto.server.getSession"
REFRESH_SESSION = "com.atproto.server.refreshSession"


@pytest.fixture
def scripted_grant(scripted: ScriptedServer) -> Grant:
    return Grant(
        credentials={"identifier": HANDLE, "app_password": "x", "service": scripted.url},
        tokens={"access": "old-access", "refresh": "old-refresh", "pds": scripted.url},
        external_id=DID,
    )


def test_identify_names_the_account_of_the_session(bluesky: Bluesky, grant: Grant) -> None:
    identity = bluesky.identify(grant)

    assert (identity.external_id, identity.handle) == (grant.external_id, HANDLE)


def test_identify_with_a_stale_token_asks_for_a_refresh(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.expire_access_tokens()

    with pytest.raises(TokenExpired):
        bluesky.identify(grant)


def test_identify_of_an_account_that_was_taken_down_says_disconnected(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.take_down(grant.external_id)

    with pytest.raises(AccountDisconnected):
        bluesky.identify(grant)


def test_identify_of_a_deactivated_account_says_disconnected(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[GET_SESSION] = Answer.of_json({"did": DID, "handle": HANDLE, "active": False})

    with pytest.raises(AccountDisconnected):
        bluesky.identify(scripted_grant)


@pytest.mark.parametrize("answer", [Answer(200, b"{}"), Answer(200, b"hello"), Answer(404), Answer(500), Answer(403)])
def test_identify_blames_no_account_for_a_server_in_disorder(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[GET_SESSION] = answer

    with pytest.raises(Transient):
        bluesky.identify(scripted_grant)


def test_refresh_gives_a_new_pair_that_works(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.expire_access_tokens()

    renewed = bluesky.refresh(grant)

    assert renewed.tokens["access"] != grant.tokens["access"]
    assert renewed.tokens["refresh"] != grant.tokens["refresh"]
    assert renewed.tokens["pds"] == pds.url
    assert renewed.credentials == grant.credentials
    assert bluesky.identify(renewed).external_id == grant.external_id
    assert (pds.refreshes, pds.sessions_created) == (1, 1)


def test_a_refresh_whose_answer_was_lost_can_be_repeated(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.drop_next(REFRESH_SESSION)
    with pytest.raises(Transient):
        bluesky.refresh(grant)

    renewed = bluesky.refresh(grant)

    assert bluesky.identify(renewed).external_id == grant.external_id
    assert pds.sessions_created == 1


def test_an_expired_refresh_token_is_replaced_by_signing_in_again(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.expire_access_tokens()
    pds.expire_refresh_tokens()

    renewed = bluesky.refresh(grant)

    assert bluesky.identify(renewed).external_id == grant.external_id
    assert (pds.refreshes, pds.sessions_created) == (0, 2)


def test_signing_in_again_goes_by_the_did_since_handles_change(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.expire_refresh_tokens()

    bluesky.refresh(replace(grant, credentials={**grant.credentials, "identifier": "former-name.test"}))

    assert pds.sessions_created == 2


def test_a_revoked_app_password_disconnects_the_account(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.expire_refresh_tokens()

    with pytest.raises(AccountDisconnected):
        bluesky.refresh(replace(grant, credentials={**grant.credentials, "app_password": "revoked"}))


def test_an_account_that_was_taken_down_is_not_signed_in_again(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.take_down(grant.external_id)

    with pytest.raises(AccountDisconnected):
        bluesky.refresh(grant)

    assert pds.requests_to(CREATE_SESSION) == 1


def test_an_outage_disconnects_nobody(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.fail_next(REFRESH_SESSION, status=502)
    with pytest.raises(Transient):
        bluesky.refresh(grant)
    pds.rate_limit_next(1, retry_after=17)
    with pytest.raises(RateLimited) as caught:
        bluesky.refresh(grant)

    assert caught.value.retry_after == 17.0
    assert pds.sessions_created == 1


def test_tokens_of_another_account_are_refused(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[REFRESH_SESSION] = Answer.of_json({**SESSION, "did": "did:plc:somebodyelse"})

    with pytest.raises(AccountDisconnected):
        bluesky.refresh(scripted_grant)


def test_an_account_that_moved_is_followed_to_its_new_server(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    service = {"id": "#atproto_pds", "serviceEndpoint": "https://new-home.example"}
    scripted.answers[REFRESH_SESSION] = Answer.of_json({**SESSION, "didDoc": {"service": [service]}})

    assert bluesky.refresh(scripted_grant).tokens["pds"] == "https://new-home.example"


def test_revoke_ends_the_session(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    bluesky.revoke(grant)

    assert pds.requests_to(DELETE_SESSION) == 1
    bluesky.refresh(grant)
    assert (pds.refreshes, pds.sessions_created) == (0, 2)


def test_revoking_what_has_ended_is_well(bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    scripted.answers[DELETE_SESSION] = Answer.of_json({"error": "ExpiredToken", "message": "no"}, 400)

    bluesky.revoke(scripted_grant)

    assert scripted.asked == [DELETE_SESSION]


def test_a_revocation_that_did_not_come_through_is_a_passing_fault(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.fail_next(DELETE_SESSION, status=500)

    with pytest.raises(Transient):
        bluesky.revoke(grant)
