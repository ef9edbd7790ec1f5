from __future__ import annotations

import json
import socket
from datetime import timedelta
from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected, RateLimited, Transient
from accounts.platforms.mastodon import instance
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.mastodon.client import Server
from tests.accounts.platforms.mastodon.scripted_server import ALICE, ScriptedServer
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import INSTANCE, LIST, OLD_INSTANCE, VERIFY


def scripted_credentials(server: ScriptedServer) -> dict[str, str]:
    return {"instance": server.url, "access_token": "secret-token"}


def test_a_token_connects_the_account(mastodon: Mastodon, server: FakeMastodon) -> None:
    token = server.add_account("alice")

    connection = mastodon.connect({"instance": f"{server.url}/@alice", "access_token": f" {token}\n"})

    host = f"127.0.0.1:{server.port}"
    assert connection.identity.external_id == f"{server.account_id('alice')}@{host}"
    assert connection.identity.handle == f"alice@{host}"
    assert connection.identity.display_name == "Alice"
    assert connection.identity.profile_url == f"{server.url}/@alice"
    assert connection.grant.external_id == connection.identity.external_id
    assert connection.grant.credentials["access_token"] == token
    assert connection.grant.tokens == {
        "instance": server.url,
        "account": server.account_id("alice"),
    }
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
    assert connection.grant.expires_at is None


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
    assert instance.address(written) == address
    assert instance.host(Server(address, "t")) == address.partition("://")[2]


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
def test_an_instance_that_is_not_allowed_is_refused(mastodon: Mastodon, settings: Settings, written: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    with pytest.raises(CredentialsRejected):
        mastodon.connect({"instance": written, "access_token": "t"})


@pytest.mark.parametrize("token", ["two words", "two\r\nlines", "naïve", " "])
def test_a_token_that_is_none_is_refused_before_anything_is_asked(
    mastodon: Mastodon, scripted: ScriptedServer, token: str
) -> None:
    with pytest.raises(CredentialsRejected):
        mastodon.connect({"instance": scripted.url, "access_token": token})

    assert scripted.asked == []


def test_a_hostile_profile_is_cut_down_to_harmless_text(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    profile = {**ALICE, "display_name": "A\x00\n\ud800" + "x" * 5000, "avatar": "javascript:alert(1)", "url": "//evil"}
    scripted.answers[VERIFY] = Answer(200, json.dumps(profile).encode())

    identity = mastodon.connect(scripted_credentials(scripted)).identity

    assert identity.display_name == "A   " + "x" * 296
    assert identity.avatar_url == ""
    assert identity.profile_url == f"{scripted.url}/@alice"


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
def test_the_limits_of_the_instance_are_read_where_it_tells_them(
    mastodon: Mastodon, scripted: ScriptedServer, new: Any, old: Any, limits: dict[str, int]
) -> None:
    del scripted.answers[INSTANCE]
    scripted.answers |= {
        call: Answer.of_json(told) for call, told in [(INSTANCE, new), (OLD_INSTANCE, old)] if told is not None
    }

    assert mastodon.connect(scripted_credentials(scripted)).identity.limits == limits


def test_a_wrong_token_is_rejected_in_our_own_words(mastodon: Mastodon, server: FakeMastodon) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        mastodon.connect({"instance": server.url, "access_token": "wrong"})

    assert caught.value.message == "The instance does not accept this access token."


@pytest.mark.parametrize("scopes", [["write"], ["profile", "write"], ["read:accounts", "write"], ["read:statuses"]])
def test_a_token_that_cannot_read_is_answered_with_the_scopes_that_it_needs(
    mastodon: Mastodon, server: FakeMastodon, scopes: list[str]
) -> None:
    token = server.add_account("alice", scopes)

    with pytest.raises(CredentialsRejected) as caught:
        mastodon.connect({"instance": server.url, "access_token": token})

    assert "outside the authorized scopes" in caught.value.message
    assert "read:accounts, read:statuses, write:statuses, write:media" in caught.value.suggested_action


@pytest.mark.parametrize("identity", ["profile", "read:accounts"])
def test_the_narrowest_scopes_are_enough(mastodon: Mastodon, server: FakeMastodon, identity: str) -> None:
    token = server.add_account("alice", [identity, "read:statuses", "write:statuses", "write:media"])

    assert mastodon.connect({"instance": server.url, "access_token": token}).identity.handle.startswith("alice@")


def test_a_token_of_an_application_is_no_accounts(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    scripted.answers[VERIFY] = Answer.of_json({"error": "This method requires an authenticated user"}, 422)

    with pytest.raises(CredentialsRejected) as caught:
        mastodon.connect(scripted_credentials(scripted))

    assert "requires an authenticated user" in caught.value.message


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b""),
        Answer(200, b"[]"),
        Answer(404, b"<html>Not found</html>"),
        Answer(302, b"", {"Location": "https://social.example/"}),
        Answer.of_json({**ALICE, "id": 1}),
        Answer.of_json({**ALICE, "id": "../../admin"}),
        Answer.of_json({**ALICE, "username": "alice@evil.example"}),
        Answer.of_json({**ALICE, "username": None}),
        Answer(200, b"[" * 100_000),
    ],
)
def test_a_server_that_is_none_of_mastodons_kind_is_rejected(
    mastodon: Mastodon, scripted: ScriptedServer, answer: Answer
) -> None:
    scripted.answers[VERIFY] = answer

    with pytest.raises(CredentialsRejected):
        mastodon.connect(scripted_credentials(scripted))


def test_an_endless_answer_is_not_read_to_its_end(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    scripted.answers[VERIFY] = Answer.of_json({**ALICE, "note": "x" * 4_000_000})

    with pytest.raises(Transient):
        mastodon.connect(scripted_credentials(scripted))


def test_a_server_that_does_not_answer_is_a_passing_fault(mastodon: Mastodon) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        with pytest.raises(Transient):
            mastodon.connect({"instance": f"127.0.0.1:{unused.getsockname()[1]}", "access_token": "t"})


@pytest.mark.parametrize("call", [VERIFY, LIST])
def test_an_outage_of_the_server_is_a_passing_fault(
    mastodon: Mastodon, server: FakeMastodon, credentials: dict[str, str], call: str
) -> None:
    server.fail_next(call, status=503)

    with pytest.raises(Transient):
        mastodon.connect(credentials)


def test_the_rate_limit_says_when_to_come_again(
    mastodon: Mastodon, server: FakeMastodon, credentials: dict[str, str]
) -> None:
    server.rate_limit_next(timedelta(seconds=300))

    with pytest.raises(RateLimited) as caught:
        mastodon.connect(credentials)

    assert 290 < (caught.value.retry_after or 0) <= 300


def test_no_fault_names_the_token(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    faults: list[Exception] = []
    for status in (401, 403, 422, 429, 500, 503):
        scripted.answers[VERIFY] = Answer.of_json({"error": "no"}, status)
        with pytest.raises((CredentialsRejected, Transient)) as caught:
            mastodon.connect(scripted_credentials(scripted))
        faults.append(caught.value)

    assert not any("secret-token" in f"{fault!r} {fault.__cause__!r}" for fault in faults)
    assert "secret-token" not in repr(Server(scripted.url, "secret-token"))


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"instance": "mastodon.social", "access_token": "x"}, True),
        ({"instance": "mastodon.social"}, False),
        ({"instance": "", "access_token": "x"}, False),
        ({"instance": "mastodon.social", "access_token": "x", "client_id": "x"}, False),
        ({"instance": "mastodon.social", "access_token": 1}, False),
    ],
)
def test_the_credentials_schema_takes_what_is_needed_and_nothing_else(given: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(Mastodon.credentials_schema)

    assert jsonschema.Draft202012Validator(Mastodon.credentials_schema).is_valid(given) is valid
