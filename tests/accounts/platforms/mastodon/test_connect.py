"""Mastodon accounts are connected by a pasted token, and identified with their server's limits."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected, ReauthRequired
from accounts.platforms.mastodon import instance
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant
from tests.accounts.platforms.mastodon.scripted_server import ALICE, ScriptedServer
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import INSTANCE, OLD_INSTANCE, VERIFY


def connect_scripted(mastodon: Mastodon, server: ScriptedServer) -> Any:
    return mastodon.connect_with_credentials({"instance": server.url, "access_token": "secret-token"})


def test_a_pasted_token_connects_the_account_with_its_servers_limits(mastodon: Mastodon, server: FakeMastodon) -> None:
    token = server.add_account("alice")

    connection = mastodon.connect_with_credentials({"instance": f"{server.url}/@alice", "access_token": f" {token}\n"})

    assert connection.identity.external_id == f"{server.account_id('alice')}@127.0.0.1:{server.port}"
    assert connection.grant.credentials["access_token"] == token
    assert connection.grant.tokens == {"instance": server.url, "account": server.account_id("alice")}
    assert connection.identity.limits == {
        "characters": 500,
        "media": 4,
        "image_bytes": 16_777_216,
        "video_bytes": 103_809_024,
        "alt_text": 1500,
        "poll_choices": 4,
        "poll_choice_length": 50,
        "poll_min_seconds": 300,
        "poll_max_seconds": 2_629_746,
    }


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("mastodon.social", "https://mastodon.social"),
        (" Mastodon.Social ", "https://mastodon.social"),
        ("https://mastodon.social/@alice/1", "https://mastodon.social"),
        ("HTTPS://MASTODON.SOCIAL:443/", "https://mastodon.social"),
        ("social.example:8443", "https://social.example:8443"),
        ("http://127.0.0.1:3000/", "http://127.0.0.1:3000"),
        ("localhost:3000", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_an_instance_is_a_host_name_or_an_address(written: str, address: str) -> None:
    assert instance.instance_url_from_owner_input(written) == address


@pytest.mark.parametrize(
    "written",
    [
        "http://mastodon.social",
        "ftp://mastodon.social",
        "https://user:pw@mastodon.social",
        "@alice@mastodon.social",
        "mastodon.social?x=1",
        "mastodon.social#x",
        "mastodon social",
        "mastodon",
        "mastodon.social:22",
        "https://",
        "10.0.0.1",
        "https://169.254.169.254/latest",
        "127.0.0.1:3000",
        "localhost",
        "[::1]",
    ],
)
def test_an_instance_that_is_not_allowed_is_rejected(mastodon: Mastodon, settings: Settings, written: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    with pytest.raises(CredentialsRejected):
        mastodon.connect_with_credentials({"instance": written, "access_token": "t"})
    with pytest.raises(CredentialsRejected):
        mastodon.begin_oauth(state="s", redirect_uri="https://publish.example/", given={"instance": written})


@pytest.mark.parametrize("token", ["two words", "two\r\nlines", "naïve", " "])
def test_an_invalid_token_is_rejected_before_any_request(mastodon: Mastodon, scripted: ScriptedServer, token: str) -> None:
    with pytest.raises(CredentialsRejected):
        mastodon.connect_with_credentials({"instance": scripted.url, "access_token": token})

    assert scripted.calls == []


@pytest.mark.parametrize(
    ("new", "old", "limits"),
    [
        ({"configuration": {"statuses": {"max_characters": 300}}}, {"max_toot_chars": 9}, {"characters": 300}),
        (None, {"configuration": {"statuses": {"max_characters": 300}}}, {"characters": 300}),
        (None, {"max_toot_chars": 5000}, {"characters": 5000}),
        ({"title": "Other"}, {"max_toot_chars": 5000}, {"characters": 5000}),
        (None, {"title": "Old"}, {}),
        (None, None, {}),
        ({"configuration": "none", "max_toot_chars": "many"}, None, {}),
        ({"configuration": {"statuses": {"max_characters": 0, "max_media_attachments": True}}}, None, {}),
        ({"configuration": {"statuses": {"max_characters": 10**300}}}, None, {}),
    ],
)
def test_the_servers_limits_are_read_from_either_address(
    mastodon: Mastodon, scripted: ScriptedServer, new: Any, old: Any, limits: dict[str, int]
) -> None:
    del scripted.answers[INSTANCE]
    scripted.answers |= {
        call: Answer.of_json(document) for call, document in [(INSTANCE, new), (OLD_INSTANCE, old)] if document
    }

    assert connect_scripted(mastodon, scripted).identity.limits == limits


@pytest.mark.parametrize(
    ("scopes", "message"),
    [
        (None, "The instance does not accept this access token."),
        *(
            (scopes, "outside the authorized scopes")
            for scopes in (["write"], ["profile", "write"], ["read:accounts", "write"], ["read:statuses"])
        ),
    ],
)
def test_a_token_that_cannot_read_is_rejected_with_the_scopes_that_it_needs(
    mastodon: Mastodon, server: FakeMastodon, scopes: list[str] | None, message: str
) -> None:
    token = server.add_account("alice", scopes) if scopes else "wrong"

    with pytest.raises(CredentialsRejected) as caught:
        mastodon.connect_with_credentials({"instance": server.url, "access_token": token})

    assert message in caught.value.message
    needed = "read:accounts, read:statuses, write:statuses, write:media"
    assert (needed in caught.value.suggested_action) is bool(scopes)


@pytest.mark.parametrize("identity", ["profile", "read:accounts"])
def test_the_narrowest_scopes_are_enough(mastodon: Mastodon, server: FakeMastodon, identity: str) -> None:
    token = server.add_account("alice", [identity, "read:statuses", "write:statuses", "write:media"])

    assert mastodon.connect_with_credentials({"instance": server.url, "access_token": token}).identity.handle.startswith(
        "alice@"
    )


def test_a_token_of_an_application_is_rejected_in_the_servers_words(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    scripted.answers[VERIFY] = Answer.of_json({"error": "This method requires an authenticated user"}, 422)

    with pytest.raises(CredentialsRejected, match="requires an authenticated user"):
        connect_scripted(mastodon, scripted)


def test_an_account_is_identified_by_its_id_not_by_its_name(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    grant = connect_scripted(mastodon, scripted).grant
    scripted.answers[VERIFY] = Answer.of_json({**ALICE, "username": "alicia"})
    assert mastodon.check_and_identify(grant).handle.startswith("alicia@")

    scripted.answers[VERIFY] = Answer.of_json({**ALICE, "id": "2"})
    with pytest.raises(ReauthRequired):
        mastodon.check_and_identify(grant)


def test_a_disabled_account_is_disconnected_in_the_servers_words(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    server.disable("alice")

    with pytest.raises(ReauthRequired, match="currently disabled"):
        mastodon.check_and_identify(grant)


def test_a_pasted_token_is_neither_renewed_nor_revoked(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    with pytest.raises(ReauthRequired):
        mastodon.refresh_grant(grant)
    mastodon.revoke_grant(grant)

    assert mastodon.check_and_identify(grant).external_id == grant.external_id


@pytest.mark.parametrize(
    ("method", "given", "valid"),
    [
        ("credentials", {"instance": "mastodon.social", "access_token": "x"}, True),
        ("credentials", {"instance": "mastodon.social"}, False),
        ("credentials", {"instance": "", "access_token": "x"}, False),
        ("credentials", {"instance": "mastodon.social", "access_token": "x", "client_id": "x"}, False),
        ("credentials", {"instance": "mastodon.social", "access_token": 1}, False),
        ("oauth", {"instance": "m.example"}, True),
        ("oauth", {}, False),
        ("oauth", {"instance": ""}, False),
        ("oauth", {"instance": "m.example", "access_token": "x"}, False),
    ],
)
def test_the_schemas_of_what_owners_give(method: str, given: dict[str, Any], valid: bool) -> None:
    schema = Mastodon.credentials_schema if method == "credentials" else Mastodon.oauth_input_schema
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)

    assert jsonschema.Draft202012Validator(schema).is_valid(given) is valid
