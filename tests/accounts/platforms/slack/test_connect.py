from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.slack.capabilities import SCOPES
from accounts.platforms.types import Grant
from tests.accounts.platforms.slack.steps import REDIRECT_URI, install, refusal
from tests.fakes.http_server import Answer
from tests.fakes.slack import ACCESS, AUTH_TEST, LIST, TEAM, WEBHOOK, Channel, FakeSlack


def test_a_webhook_is_connected_without_a_message(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    url = server.add_webhook(channel)

    connection = slack.connect_with_credentials({"webhook_url": f" {url}/ "})

    [(webhook_id, secret)] = channel.webhooks.items()
    assert connection.identity.external_id == connection.grant.external_id == f"{TEAM}/{webhook_id}"
    assert slack.check_and_identify(connection.grant) == connection.identity
    assert server.messages(channel) == []
    assert secret not in f"{connection.identity} {connection!r}"


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/services/T1/B1",
        "https://hooks.slack.com/triggers/T1/B1/x",
        "https://hooks.slack.com/services/T1/B1/x/../y",
        "https://hooks.slack.com.evil.example/services/T1/B1/x",
        "https://evil.example/services/T1/B1/x",
        "http://hooks.slack.com/services/T1/B1/x",
    ],
)
def test_other_addresses_are_rejected_without_a_request(slack: Slack, server: FakeSlack, url: str) -> None:
    with pytest.raises(CredentialsRejected):
        slack.connect_with_credentials({"webhook_url": url})
    assert server.requests == ()


@pytest.mark.parametrize("broken", ["removed", "secret", "archived"])
def test_a_webhook_that_does_not_work_is_rejected(slack: Slack, server: FakeSlack, channel: Channel, broken: str) -> None:
    url = server.add_webhook(channel)
    if broken == "removed":
        server.remove_webhooks(channel)
    channel.archived = broken == "archived"

    with pytest.raises(CredentialsRejected):
        slack.connect_with_credentials({"webhook_url": url[:-1] + "x" if broken == "secret" else url})


@pytest.mark.parametrize(
    ("answer", "error", "wait"),
    [
        (Answer(404), Transient, None),
        (Answer(503), Transient, None),
        (Answer(200, b"<html>"), Transient, None),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited, 30.0),
    ],
)
def test_an_error_of_the_server_does_not_disconnect_the_webhook(
    slack: Slack, server: FakeSlack, channel: Channel, answer: Answer, error: type[Transient], wait: float | None
) -> None:
    url = server.add_webhook(channel)
    grant = slack.connect_with_credentials({"webhook_url": url}).grant
    server.refuse_next(WEBHOOK, answer, times=2)

    for ask in (lambda: slack.connect_with_credentials({"webhook_url": url}), lambda: slack.check_and_identify(grant)):
        with pytest.raises(Transient) as caught:
            ask()
        assert (type(caught.value), caught.value.retry_after) == (error, wait)


def test_owners_grant_access_on_slacks_page(slack: Slack, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"SLACK_CLIENT_ID": "the id", "SLACK_CLIENT_SECRET": "s"}

    authorization = slack.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={})

    parts = urlsplit(authorization.url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://slack.com/oauth/v2/authorize"
    assert parse_qs(parts.query)["scope"] == [",".join(SCOPES)]


def test_an_installation_connects_the_channels_that_the_app_may_post_to(slack: Slack, server: FakeSlack) -> None:
    random, news = server.add_channel("random"), server.add_channel("news")
    secret = server.add_channel("secret", private=True, has_app=True)
    server.add_channel("not for us", private=True)
    server.add_channel("old").archived = True

    connections = install(slack, server)

    assert [each.identity.handle for each in connections] == ["#news", "#random", "#secret"]
    for each, channel in zip(connections, (news, random, secret), strict=True):
        assert each.grant.external_id == f"{TEAM}/{channel.id}"
        assert each.grant.tokens["channel"] == {"id": channel.id, "site": server.url}
        assert (each.scopes, each.grant.expires_at) == (SCOPES, None)
        assert slack.check_and_identify(each.grant).external_id == each.grant.external_id


def test_a_large_workspace_is_read_in_pages_up_to_a_thousand_channels(slack: Slack, server: FakeSlack) -> None:
    for number in range(1100):
        server.add_channel(f"c{number:04d}")

    assert len(install(slack, server)) == 1000
    assert server.requests_to(LIST) == 2


def test_an_app_whose_tokens_rotate_is_refused(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    server.rotate_tokens()

    with pytest.raises(ConnectionUnavailable, match="rotation"):
        install(slack, server)


@pytest.mark.parametrize(
    ("call", "answer", "error"),
    [
        (ACCESS, refusal("ratelimited"), RateLimited),
        (ACCESS, refusal("new_reason"), CredentialsRejected),
        (ACCESS, Answer.of_json({"ok": True, "scope": ",".join(SCOPES)}), Transient),
        (AUTH_TEST, refusal("invalid_auth"), CredentialsRejected),
        (AUTH_TEST, Answer.of_json({"ok": True, "team_id": "../T", "url": "https://x.slack.com/"}), Transient),
        (LIST, refusal("internal_error"), Transient),
    ],
)
def test_each_refusal_of_an_installation_raises_the_matching_error(
    slack: Slack, server: FakeSlack, channel: Channel, call: str, answer: Answer, error: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        install(slack, server)

    assert type(caught.value) is error


def test_webhooks_need_no_setting(slack: Slack, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {}

    assert slack.unavailable_reason("credentials") is None


def test_an_archived_channel_is_disconnected(slack: Slack, channel: Channel, grant: Grant) -> None:
    channel.archived = True
    with pytest.raises(ReauthRequired):
        slack.check_and_identify(grant)

    channel.archived = False
    assert slack.check_and_identify(grant).external_id == grant.external_id
