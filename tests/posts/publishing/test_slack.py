"""Publishing to Slack end to end: one installation opens several channels, each published to separately."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from tests.accounts.oauth_calls import Granted, begin, complete
from tests.conftest import ApiClient
from tests.fakes.slack import POST_MESSAGE, FakeSlack
from tests.fakes.slack_oauth import CLIENT_ID, CLIENT_SECRET
from tests.media.pictures import jpeg
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

    # A text cannot be looked up, so it is sent again only where somebody asks for it.
    sent = sum(len(server.messages(channel)) for channel in channels)
    publish_rounds(clock)
    assert sum(len(server.messages(channel)) for channel in channels) == sent
    assert api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True}).status_code == 200
    publish_rounds(clock)
    assert {target["status"] for target in read(api, group)["targets"]} == {"published"}
    assert sum(len(server.messages(channel)) for channel in channels) == sent + 1


def test_files_are_published_by_apps_and_refused_for_webhooks(
    api: ApiClient, server: FakeSlack, workspace: Workspace, clock: Any
) -> None:
    channel = server.add_channel("news", has_app=True)
    begun = begin(api, workspace, platform="slack").json()
    brought = Granted(begun["state"], server.grant(begun["authorization_url"]))
    app = complete(api, brought).json()["account"]
    given = {"workspace_id": workspace.id, "platform": "slack", "method": "credentials"}
    answer = api.post("/accounts/connect", {**given, "credentials": {"webhook_url": server.add_webhook(channel)}})
    webhook = answer.json()["account"]
    media_id = api.upload(jpeg(640, 480), filename="bench.jpg", alt_text="A bench").json()["media"]["id"]

    def body(account: dict[str, Any]) -> dict[str, Any]:
        target = {"platform": "slack", "connected_account_id": account["id"]}
        return {**body_for(text="Hello"), "targets": [target], "media": [{"media_id": media_id}]}

    refused = api.post("/posts", body(webhook))
    group = api.post("/posts", body(app)).json()["post_group"]
    publish_rounds(clock)

    assert refused.status_code == 422
    [issue] = api.post("/posts/validate", body(webhook)).json()["targets"][0]["issues"]
    assert (issue["code"], issue["field"]) == ("MEDIA_KIND_NOT_TAKEN", "media[0]")
    assert issue["message"].startswith("An incoming webhook carries no files.")
    [message] = server.messages(channel)
    [target] = read(api, group)["targets"]
    assert (target["status"], target["external_id"]) == ("published", message["ts"])
    assert (message["text"], [alt_text for _, alt_text in message["files"]]) == ("Hello", ["A bench"])
    assert [
        api.get(f"/accounts/{each['id']}/capabilities").json()["capabilities"]["media"]["max_count"]
        for each in (app, webhook)
    ] == [10, 0]
