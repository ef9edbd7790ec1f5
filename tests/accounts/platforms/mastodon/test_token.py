from __future__ import annotations

import pytest

from accounts.platforms.errors import AccountDisconnected, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant
from tests.accounts.platforms.mastodon.scripted_server import ALICE, ScriptedServer
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import VERIFY


def test_identify_names_the_account_of_the_token(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    identity = mastodon.identify(grant)

    assert (identity.external_id, identity.handle) == (grant.external_id, f"alice@127.0.0.1:{server.port}")


def test_a_revoked_token_disconnects_the_account(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.revoke_tokens("alice")

    with pytest.raises(AccountDisconnected):
        mastodon.identify(grant)


def test_a_frozen_login_disconnects_the_account(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.disable("alice")

    with pytest.raises(AccountDisconnected) as caught:
        mastodon.identify(grant)

    assert "currently disabled" in caught.value.message


def test_a_token_of_another_account_is_refused(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[VERIFY] = Answer.of_json({**ALICE, "id": "2"})

    with pytest.raises(AccountDisconnected):
        mastodon.identify(scripted_grant)


def test_an_account_keeps_its_identity_under_another_name(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[VERIFY] = Answer.of_json({**ALICE, "username": "alicia"})

    identity = mastodon.identify(scripted_grant)

    assert identity.external_id == scripted_grant.external_id
    assert identity.handle.startswith("alicia@")


@pytest.mark.parametrize(
    "answer",
    [Answer(200, b"{}"), Answer(200, b"hello"), Answer(404), Answer(500), Answer(403, b"<html>Blocked</html>")],
)
def test_identify_blames_no_account_for_a_server_in_disorder(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[VERIFY] = answer

    with pytest.raises(Transient):
        mastodon.identify(scripted_grant)


def test_there_is_no_other_token_to_be_had(mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    with pytest.raises(AccountDisconnected):
        mastodon.refresh(scripted_grant)

    assert scripted.asked == []


def test_the_owners_token_is_the_owners_to_revoke(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    mastodon.revoke(grant)

    assert mastodon.identify(grant).external_id == grant.external_id
