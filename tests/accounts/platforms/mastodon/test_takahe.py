"""Accounts at a Takahe server, which implements Mastodon's API, from connection to revocation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.platforms.errors import ContentRejected, CredentialsRejected, ReauthRequired
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import AuthorizedAccount, Published
from tests.accounts.platforms.mastodon.steps import REDIRECT, authorize, go_to, image, post, publish, step
from tests.fakes.mastodon_takahe import FakeTakahe


@pytest.fixture
def takahe() -> Iterator[FakeTakahe]:
    with FakeTakahe() as running:
        running.add_account("alice", ["read", "write"])
        yield running


@pytest.fixture
def connection(mastodon: Mastodon, takahe: FakeTakahe) -> AuthorizedAccount:
    begun = authorize(mastodon, takahe.url)
    code = takahe.grant(begun.url, "alice")
    [connection] = mastodon.exchange_code_for_accounts(code=code, redirect_uri=REDIRECT, stored=begun.stored)
    return connection


def test_an_account_is_connected_and_published_to(
    mastodon: Mastodon, takahe: FakeTakahe, connection: AuthorizedAccount
) -> None:
    content = post("Hello", image(alt_text="A bench"), language="zh-TW")

    assert isinstance(publish(mastodon, connection.grant, content), Published)
    assert set(connection.scopes) == {"read", "write"}
    [status] = takahe.statuses("alice")
    assert (status["text"], len(status["media"])) == ("Hello", 1)


def test_a_pasted_token_needs_the_wide_scopes(mastodon: Mastodon, takahe: FakeTakahe) -> None:
    wide = takahe.issue_token("alice", ["read", "write"])
    narrow = takahe.issue_token("alice", ["read:accounts", "read:statuses", "write:statuses", "write:media"])

    assert mastodon.connect_with_credentials({"instance": takahe.url, "access_token": wide}).identity.handle.startswith(
        "alice@"
    )
    with pytest.raises(CredentialsRejected) as caught:
        mastodon.connect_with_credentials({"instance": takahe.url, "access_token": narrow})
    assert "or read and write if the server has no narrower ones" in caught.value.suggested_action


def test_a_revoked_token_disconnects_the_account_at_every_step(
    mastodon: Mastodon, takahe: FakeTakahe, connection: AuthorizedAccount
) -> None:
    grant, content = connection.grant, post("Hello", image())
    uploading, creating = (go_to(phase, mastodon, grant, content) for phase in ("upload", "create"))
    takahe.revoke_tokens("alice")

    for progress in (None, uploading, creating):
        with pytest.raises(ReauthRequired) as caught:
            step(mastodon, grant, content, *([progress] if progress else []))
        assert caught.value.message == "The server refuses the account: Invalid Bearer token"
    with pytest.raises(ReauthRequired):
        mastodon.check_and_identify(grant)
    assert takahe.statuses("alice") == []


def test_a_refused_post_does_not_disconnect_the_account(
    mastodon: Mastodon, takahe: FakeTakahe, connection: AuthorizedAccount
) -> None:
    takahe.set_max_characters(4)

    with pytest.raises(ContentRejected) as caught:
        publish(mastodon, connection.grant, post("Hello"))
    assert caught.value.message == "The account's server does not accept this post: Status is too long"
