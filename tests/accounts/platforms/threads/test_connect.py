from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from pytest_django import Settings

from accounts.platforms.threads.adapter import Threads
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect
from tests.fakes.threads import FakeThreads


def test_the_consent_page_is_threads_own(threads: Threads, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"THREADS_CLIENT_ID": "the id", "THREADS_CLIENT_SECRET": "s"}
    parts = urlsplit(threads.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={}).url)
    settings.PLATFORM_SETTINGS["THREADS_SCOPES"] = "threads_basic threads_content_publish"
    fewer = threads.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={}).url

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "threads.com", "/oauth/authorize")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "the id",
        "redirect_uri": REDIRECT_URI,
        "scope": "threads_basic,threads_content_publish,threads_manage_replies,threads_read_replies",
        "response_type": "code",
        "state": "state-1",
    }
    assert parse_qs(urlsplit(fewer).query)["scope"] == ["threads_basic,threads_content_publish"]


def test_a_connection_stores_the_access_token_only(threads: Threads, server: FakeThreads) -> None:
    connection = connect(threads, server)

    assert set(connection.grant.tokens) == {"access_token"}
    assert connection.identity.avatar_url.startswith("https://scontent.cdninstagram.com/")
