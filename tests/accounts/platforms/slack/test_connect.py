from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Grant
from tests.accounts.platforms.slack.steps import REDIRECT_URI, install
from tests.fakes.http_server import Answer
from tests.fakes.slack import ACCESS, AUTH_TEST, INFO, LIST, TEAM, WEBHOOK, Channel, FakeSlack

SCOPES = ["chat:write", "chat:write.public", "channels:read", "groups:read", "files:write", "files:read"]


def test_a_webhook_is_looked_for_without_a_message(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    url = server.add_webhook(channel)

    connection = slack.connect({"webhook_url": f" {url}/ "})

    webhook_id = next(iter(channel.webhooks))
    assert connection.identity.external_id == connection.grant.external_id == f"{TEAM}/{webhook_id}"
    assert slack.identify(connection.grant) == connection.identity
    assert server.messages(channel) == []
    assert channel.webhooks[webhook_id] not in f"{connection.identity} {connection!r}"


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
def test_other_addresses_are_no_webhooks(slack: Slack, server: FakeSlack, url: str) -> None:
    with pytest.raises(CredentialsRejected):
        slack.connect({"webhook_url": url})
    assert server.requests == ()


@pytest.mark.parametrize("broken", ["removed", "secret", "archived"])
def test_a_webhook_that_does_not_work_is_refused(
    slack: Slack, server: FakeSlack, channel: Channel, broken: str
) -> None:
    url = server.add_webhook(channel)
    if broken == "removed":
        server.remove_webhooks(channel)
    channel.archived = broken == "archived"

    with pytest.raises(CredentialsRejected):
        slack.connect({"webhook_url": url[:-1] + "x" if broken == "secret" else url})


def test_slack_being_away_is_no_fault_of_the_webhook(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    url = server.add_webhook(channel)
    server.fail_next(WEBHOOK)
    with pytest.raises(Transient):
        slack.connect({"webhook_url": url})
    server.rate_limit_next(WEBHOOK, 30)
    with pytest.raises(RateLimited) as caught:
        slack.connect({"webhook_url": url})
    assert caught.value.retry_after == 30


def test_consent_is_asked_for_on_slacks_own_page(slack: Slack, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"SLACK_CLIENT_ID": "the id", "SLACK_CLIENT_SECRET": "s"}

    authorization = slack.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})

    parts = urlsplit(authorization.url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://slack.com/oauth/v2/authorize"
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_id": "the id",
        "scope": ",".join(SCOPES),
        "redirect_uri": REDIRECT_URI,
        "state": "state-1",
    }


def test_an_installation_opens_the_channels_that_the_app_may_post_to(slack: Slack, server: FakeSlack) -> None:
    random, news = server.add_channel("random"), server.add_channel("news")
    secret = server.add_channel("secret", private=True, has_app=True)
    server.add_channel("not for us", private=True)
    server.add_channel("old").archived = True

    connections = install(slack, server)

    assert [each.identity.handle for each in connections] == ["#news", "#random", "#secret"]
    assert [each.grant.external_id for each in connections] == [f"{TEAM}/{each.id}" for each in (news, random, secret)]
    assert connections[0].identity.display_name == "#news (The Bench)"
    assert connections[0].identity.profile_url == f"{server.url}/archives/{news.id}"
    assert connections[0].scopes == tuple(SCOPES)
    assert connections[0].grant.expires_at is None
    for each in connections:
        assert slack.identify(each.grant).external_id == each.grant.external_id


def test_a_large_workspace_is_read_page_by_page_up_to_a_thousand_channels(slack: Slack, server: FakeSlack) -> None:
    for number in range(1100):
        server.add_channel(f"c{number:04d}")

    assert len(install(slack, server)) == 1000
    assert server.requests_to(LIST) == 2


def test_an_app_whose_tokens_rotate_is_refused(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    """The channels' accounts would end each other's access."""
    server.rotate_tokens()

    with pytest.raises(ConnectionUnavailable, match="rotation"):
        install(slack, server)


@pytest.mark.parametrize("left_out", SCOPES)
def test_an_installation_with_less_than_is_needed_is_told_by_what_is_missing(
    slack: Slack, server: FakeSlack, left_out: str
) -> None:
    with pytest.raises(CredentialsRejected, match=left_out):
        install(slack, server, [scope for scope in SCOPES if scope != left_out])


def test_a_code_is_good_for_one_exchange(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    code = server.grant(slack.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url)
    slack.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})

    for used in (code, "guessed"):
        with pytest.raises(CredentialsRejected):
            slack.exchange(code=used, redirect_uri=REDIRECT_URI, stored={})


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (ACCESS, Answer(503), Transient),
        (ACCESS, Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (ACCESS, Answer(200, b"<html>"), Transient),
        (ACCESS, Answer.of_json({"ok": False, "error": "bad_client_secret"}), ConnectionUnavailable),
        (ACCESS, Answer.of_json({"ok": False, "error": "new_reason"}), CredentialsRejected),
        (ACCESS, Answer.of_json({"ok": True, "scope": ",".join(SCOPES)}), CredentialsRejected),
        (AUTH_TEST, Answer.of_json({"ok": False, "error": "invalid_auth"}), CredentialsRejected),
        (AUTH_TEST, Answer.of_json({"ok": True, "team_id": "../T", "url": "https://x.slack.com/"}), Transient),
        (LIST, Answer.of_json({"ok": False, "error": "internal_error"}), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    slack: Slack, server: FakeSlack, channel: Channel, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        install(slack, server)

    assert type(caught.value) is fault


@pytest.mark.parametrize("missing", ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"])
def test_without_an_app_only_webhooks_can_be_connected(slack: Slack, settings: Settings, missing: str) -> None:
    given = {"SLACK_CLIENT_ID": "a", "SLACK_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert slack.unavailable_reason("credentials") is None
    assert slack.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."

    settings.PLATFORM_SETTINGS = given
    assert slack.unavailable_reason("oauth") is None


def test_an_access_that_has_ended_needs_its_owner(
    slack: Slack, server: FakeSlack, channel: Channel, grant: Grant
) -> None:
    channel.archived = True
    with pytest.raises(AccountDisconnected):
        slack.identify(grant)
    channel.archived = False
    assert slack.identify(grant).external_id == grant.external_id

    server.remove_app()
    server.remove_webhooks(channel)
    with pytest.raises(AccountDisconnected):
        slack.identify(grant)
    with pytest.raises(AccountDisconnected):
        slack.refresh(grant)


def test_disorder_at_slack_is_no_fault_of_the_account(slack: Slack, server: FakeSlack, grant: Grant) -> None:
    for answer in (Answer(404), Answer(500), Answer(200, b"<html>"), Answer.of_json({"ok": True, "channel": {}})):
        for call in (WEBHOOK, INFO):
            server.refuse_next(call, answer)
        with pytest.raises(Transient):
            slack.identify(grant)


def test_disconnecting_one_channel_leaves_the_others(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    other = server.add_channel("other")
    first, second = install(slack, server)

    slack.revoke(first.grant)

    assert slack.identify(second.grant).handle == f"#{other.name}"
