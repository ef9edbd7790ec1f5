"""Slack from the API to the channel: one installation opens several channels, and each is posted to by itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from tests.accounts.oauth_calls import Granted, begin, complete
from tests.conftest import ApiClient
from tests.fakes.slack import POST_MESSAGE, FakeSlack
from tests.fakes.slack_oauth import CLIENT_ID, CLIENT_SECRET
from tests.posts.rows import body_for, publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture
def server(settings: Settings) -> Any:
    with FakeSlack() as running:
        running.register_redirect(settings.BASE_URL + reverse("connect-callback"))
        settings.PLATFORM_SETTINGS = {
            "SLACK_CLIENT_ID": CLIENT_ID,
            "SLACK_CLIENT_SECRET": CLIENT_SECRET,
            "SLACK_API_BASE": running.api_base,
            "SLACK_AUTH_BASE": running.url,
        }
        yield running


def test_two_channels_of_one_installation_get_a_post_each_and_a_lost_answer_stays_open(
    api: ApiClient, server: FakeSlack, workspace: Workspace, clock: Any
) -> None:
    channels = [server.add_channel(name) for name in ("news", "random", "unused")]
    begun = begin(api, workspace, platform="slack").json()
    brought = Granted(begun["state"], server.grant(begun["authorization_url"]))
    choices = complete(api, brought).json()["choices"]
    assert [each["handle"] for each in choices] == ["#news", "#random", "#unused"]
    accounts = [complete(api, brought, choice=each["external_id"]).json()["account"] for each in choices[:2]]
    targets = [
        {"platform": "slack", "connected_account_id": account["id"], "options": {"unfurl_links": False}}
        for account in accounts
    ]
    server.hold_next(POST_MESSAGE).set()  # the first goes through
    server.drop_next(POST_MESSAGE)

    group = api.post("/posts", {**body_for(text="Hello <everybody>"), "targets": targets}).json()["post_group"]
    publish_rounds(clock)

    told = {target["connected_account_id"]: target for target in read(api, group)["targets"]}
    assert sorted(target["status"] for target in told.values()) == ["published", "unconfirmed"]
    for account, channel in zip(accounts, channels, strict=False):
        [message] = server.messages(channel)
        assert message["text"] == "Hello <everybody>"
        if told[account["id"]]["status"] == "published":
            assert told[account["id"]]["permalink"] == (
                f"{server.url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
            )
    assert server.messages(channels[2]) == []
