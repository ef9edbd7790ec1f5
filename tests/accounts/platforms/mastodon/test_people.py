"""People whom a post at Mastodon can mention, whichever server they live at."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import ReauthRequired
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.people import Person
from accounts.platforms.types import Grant
from tests.fakes.mastodon import FakeMastodon


def test_a_mention_names_the_server_even_of_accounts_of_the_same_server(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    server.add_account("bobby")
    server.know("bob", "bücher.example")

    assert mastodon.find_people(grant, "bob") == [
        Person(f"@bobby@127.0.0.1:{server.port}", "Bobby"),
        Person("@bob@bücher.example", "Bob"),
    ]


def test_no_other_server_is_asked(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    mastodon.find_people(grant, "bob@remote.example")

    assert server.requests[-1].query["resolve"] == "false"


def test_a_token_without_the_scope_is_refused(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    narrow = {**grant.credentials, "access_token": server.issue_token("alice", ["profile", "write:statuses"])}

    with pytest.raises(ReauthRequired):
        mastodon.find_people(Grant(narrow, grant.tokens, grant.external_id), "bob")
