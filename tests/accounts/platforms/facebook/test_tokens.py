from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant
from tests.accounts.platforms.facebook.steps import connect
from tests.fakes.facebook import ME, FakeFacebook
from tests.fakes.http_server import Answer

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_a_pages_token_outlives_the_login_that_gave_it(facebook: Facebook, server: FakeFacebook, page_id: str) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        [connection] = connect(facebook, server)
        clock.shift(timedelta(days=400))

        assert facebook.identify(connection.grant).external_id == page_id


def test_a_consent_that_was_withdrawn_needs_its_owner(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        facebook.identify(grant)
    with pytest.raises(AccountDisconnected):
        facebook.refresh(grant)


def test_a_role_that_was_lost_ends_the_token_of_that_page_only(
    facebook: Facebook, server: FakeFacebook, page_id: str
) -> None:
    server.add_page("Other", admin="alice")
    bakery, other = connect(facebook, server)
    server.leave("alice", page_id)

    with pytest.raises(TokenExpired):
        facebook.identify(bakery.grant)
    assert facebook.identify(other.grant).display_name == "Other"


def test_disconnecting_one_page_leaves_the_others_of_the_login(
    facebook: Facebook, server: FakeFacebook, page_id: str
) -> None:
    server.add_page("Other", admin="alice")
    bakery, other = connect(facebook, server)
    before = len(server.requests)

    facebook.revoke(bakery.grant)

    assert len(server.requests) == before
    assert facebook.identify(other.grant).display_name == "Other"


def test_a_page_keeps_its_identity_under_another_name(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    server.rename(page_id, "The Old Bakery")

    identity = facebook.identify(grant)

    assert (identity.external_id, identity.display_name) == (grant.external_id, "The Old Bakery")


def test_a_token_of_another_page_is_refused(facebook: Facebook, grant: Grant) -> None:
    with pytest.raises(AccountDisconnected):
        facebook.identify(replace(grant, external_id="999"))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(500), Transient),
        (Answer(403, b"<html>"), Transient),
        (Answer(200, b"{}"), Transient),
        (Answer.of_json({"error": {"code": 100, "error_subcode": 33, "message": "no"}}, 400), Transient),
        (Answer.of_json({"error": {"code": 200, "message": "no"}}, 403), AccountDisconnected),
        (Answer.of_json({"error": {"code": 32, "message": "no"}}, 400), RateLimited),
        (Answer.of_json({"error": {"code": 987654, "message": "no"}}, 400), Transient),
    ],
)
def test_no_account_is_blamed_for_disorder_at_facebook(
    facebook: Facebook, server: FakeFacebook, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(ME, answer)

    with pytest.raises(PlatformError) as caught:
        facebook.identify(grant)

    assert type(caught.value) is fault
