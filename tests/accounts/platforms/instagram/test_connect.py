from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import CredentialsRejected, ReauthRequired, Transient
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Grant
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.instagram import ME, FakeInstagram

NEEDED = ("instagram_business_basic", "instagram_business_content_publish")
SCOPES = (*NEEDED, "instagram_business_manage_comments")


def test_the_consent_page_is_instagrams_own(instagram: Instagram, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"INSTAGRAM_CLIENT_ID": "123", "INSTAGRAM_CLIENT_SECRET": "s"}

    parts = urlsplit(instagram.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={}).url)

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.instagram.com", "/oauth/authorize")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "123",
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": ",".join(SCOPES),
        "state": "state-1",
    }


def test_the_operator_sets_the_version_and_the_scopes(
    instagram: Instagram, server: FakeInstagram, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS |= {"INSTAGRAM_API_VERSION": "v99.0", "INSTAGRAM_SCOPES": ",".join(NEEDED)}
    with pytest.raises(Transient, match="Unknown path"):
        connect(instagram, server)

    settings.PLATFORM_SETTINGS["INSTAGRAM_API_BASE"] = f"{server.url}/v25.0/"

    assert connect(instagram, server).scopes == NEEDED


@pytest.mark.parametrize("is_list", [True, False])
def test_the_response_to_a_code_may_be_wrapped_in_a_list(instagram: Instagram, server: FakeInstagram, is_list: bool) -> None:
    if not is_list:
        server.answer_codes_with_an_object()

    connection = connect(instagram, server)

    assert connection.scopes == SCOPES
    assert connection.identity.avatar_url.startswith("https://scontent.cdninstagram.com/")
    assert connection.grant.tokens == {"access_token": server.access_tokens("alice")[-1]}


def test_a_personal_account_is_rejected_and_disconnected(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    personal = {"user_id": grant.external_id, "username": "alice", "account_type": "PERSONAL"}
    server.refuse_next(ME, Answer.of_json(personal), times=2)

    with pytest.raises(CredentialsRejected, match="professional") as caught:
        connect(instagram, server)
    assert "business or creator" in caught.value.suggested_action
    with pytest.raises(ReauthRequired):
        instagram.check_and_identify(grant)
