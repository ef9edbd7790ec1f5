"""A Slack server with one workspace, and its channel connected both ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Grant, MediaFile
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.slack.steps import REDIRECT_URI, install
from tests.fakes.slack import Channel, FakeSlack
from tests.fakes.slack_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeSlack]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeSlack() as running:
        running.register_redirect(REDIRECT_URI)
        settings.PLATFORM_SETTINGS = {
            "SLACK_CLIENT_ID": CLIENT_ID,
            "SLACK_CLIENT_SECRET": CLIENT_SECRET,
            "SLACK_API_BASE": running.api_base,
            "SLACK_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def channel(server: FakeSlack) -> Channel:
    return server.add_channel("news")


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture(params=["app", "webhook"])
def grant(request: pytest.FixtureRequest, slack: Slack, server: FakeSlack, channel: Channel) -> Grant:
    """The grant of the channel, by the app and by a webhook."""
    if request.param == "webhook":
        return slack.connect_with_credentials({"webhook_url": server.add_webhook(channel)}).grant
    [connection] = install(slack, server)
    return connection.grant


@pytest.fixture
def joined(server: FakeSlack) -> Channel:
    """A channel that the app is a member of, which files need."""
    return server.add_channel("news", has_app=True)


@pytest.fixture
def app(slack: Slack, server: FakeSlack, joined: Channel) -> Grant:
    """The grant of that channel."""
    [connection] = install(slack, server)
    return connection.grant


@pytest.fixture
def image() -> MediaFile:
    return media_file(picture(), alt_text="A teal bench")
