from __future__ import annotations

import socket

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Grant
from tests.accounts.platforms.slack.steps import install, send
from tests.fakes.http_server import Answer
from tests.fakes.slack import POST_MESSAGE, WEBHOOK, Channel, FakeSlack


def call_of(grant: Grant) -> str:
    return WEBHOOK if grant.credentials else POST_MESSAGE


def refused(code: str, grant: Grant, status: int) -> Answer:
    return Answer(status, code.encode()) if grant.credentials else Answer.of_json({"ok": False, "error": code})


def test_a_message_is_posted_as_it_is_written(slack: Slack, server: FakeSlack, channel: Channel, grant: Grant) -> None:
    text = "Fish & chips < 5 > <!channel> <@U1> &amp; <https://example.com|a link>"

    published = send(slack, grant, text, mrkdwn=False, unfurl_links=False, unfurl_media=True)

    [message] = server.messages(channel)
    assert (message["text"], message["control"]) == (text, [])
    assert (message["mrkdwn"], message["unfurl_links"], message["unfurl_media"]) == (False, False, True)
    if grant.credentials:
        assert (published.external_id, published.permalink) == ("", "")
    else:
        assert published.external_id == message["ts"]
        assert published.permalink == f"{server.url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"


def test_a_reply_stands_in_its_thread(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    [connection] = install(slack, server)
    parent = send(slack, connection.grant, "Question")

    reply = send(slack, connection.grant, "Answer", thread_ts=parent.external_id)

    assert server.messages(channel)[1]["thread_ts"] == parent.external_id
    assert reply.permalink.endswith(f"?thread_ts={parent.external_id}&cid={channel.id}")
    with pytest.raises(ContentRejected, match="thread_not_found"):
        send(slack, connection.grant, "Answer", thread_ts="1.000001")


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("fault", ["drop", 500, 503])
def test_an_answer_that_never_comes_leaves_the_outcome_open_for_good(
    slack: Slack, server: FakeSlack, channel: Channel, grant: Grant, fault: str | int, taken: bool
) -> None:
    if isinstance(fault, int):
        server.fail_next(call_of(grant), fault, after_accept=taken)
    else:
        server.drop_next(call_of(grant), after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        send(slack, grant)

    assert caught.value.final
    assert len(server.messages(channel)) == int(taken)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>"),
        Answer(200, b""),
        Answer.of_json({"ok": True, "ts": "../1"}),
        Answer.of_json({"ok": False, "error": "internal_error"}),
        Answer.of_json({"ok": False, "error": "fatal_error"}),
        Answer(204),
    ],
)
def test_an_answer_that_does_not_say_what_was_done_is_an_open_outcome(
    slack: Slack, server: FakeSlack, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(call_of(grant), answer)

    with pytest.raises(OutcomeUnknown):
        send(slack, grant)


APP_REFUSALS = [
    ("token_revoked", AccountDisconnected),
    ("account_inactive", AccountDisconnected),
    ("missing_scope", AccountDisconnected),
    ("channel_not_found", AccountDisconnected),
    ("is_archived", AccountDisconnected),
    ("not_in_channel", AccountDisconnected),
    ("msg_too_long", ContentRejected),
    ("restricted_action_read_only_channel", AccountDisconnected),
    ("restricted_action_thread_only_channel", ContentRejected),
    ("slack_connect_canvas_sharing_blocked", ContentRejected),
    ("invalid_arguments", ContentRejected),
    ("ratelimited", RateLimited),
    ("service_unavailable", Transient),
    ("request_timeout", Transient),
]
WEBHOOK_REFUSALS = [
    (404, "no_service", AccountDisconnected),
    (403, "invalid_token", AccountDisconnected),
    (410, "channel_is_archived", AccountDisconnected),
    (403, "action_prohibited", AccountDisconnected),
    (400, "invalid_payload", ContentRejected),
    (400, "no_text", ContentRejected),
    (429, "rate_limited", RateLimited),
    (404, "<html>", Transient),
    (307, "", Transient),
]


@pytest.mark.parametrize(("code", "fault"), APP_REFUSALS)
def test_what_slack_tells_the_app_is_told_by_what_helps(
    slack: Slack,
    server: FakeSlack,
    channel: Channel,
    caplog: pytest.LogCaptureFixture,
    code: str,
    fault: type[PlatformError],
) -> None:
    [connection] = install(slack, server)
    server.refuse_next(POST_MESSAGE, Answer.of_json({"ok": False, "error": code}))

    with pytest.raises(PlatformError) as caught:
        send(slack, connection.grant)

    assert type(caught.value) is fault
    assert server.messages(channel) == []
    assert caplog.records == []


@pytest.mark.parametrize(("status", "body", "fault"), WEBHOOK_REFUSALS)
def test_what_slack_tells_a_webhook_is_told_by_what_helps(
    slack: Slack, server: FakeSlack, channel: Channel, status: int, body: str, fault: type[PlatformError]
) -> None:
    grant = slack.connect({"webhook_url": server.add_webhook(channel)}).grant
    server.refuse_next(WEBHOOK, Answer(status, body.encode()))

    with pytest.raises(PlatformError) as caught:
        send(slack, grant)

    assert type(caught.value) is fault
    assert server.messages(channel) == []


def test_a_code_that_nobody_knows_is_kept_and_told_to_the_operator(
    slack: Slack, server: FakeSlack, grant: Grant, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuse_next(call_of(grant), refused("brand_new_reason", grant, 403))

    with pytest.raises(Transient, match="brand_new_reason"):
        send(slack, grant)

    [record] = caplog.records
    assert (record.levelname, "brand_new_reason" in record.getMessage()) == ("WARNING", True)


def test_haste_is_answered_with_when_to_come_again(slack: Slack, server: FakeSlack, grant: Grant) -> None:
    server.rate_limit_next(call_of(grant), 30)

    with pytest.raises(RateLimited) as caught:
        send(slack, grant)

    assert caught.value.retry_after == 30


def test_a_server_that_cannot_be_reached_took_nothing(slack: Slack, grant: Grant, settings: Settings) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{unused.getsockname()[1]}"
        settings.PLATFORM_SETTINGS = {"SLACK_API_BASE": f"{away}/api"}
        credentials = {"webhook_url": f"{away}/services/T1/B1/x"} if grant.credentials else {}

        with pytest.raises(Transient):
            send(slack, Grant(credentials, grant.tokens, grant.external_id))


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
def test_no_fault_shows_a_secret_or_the_text(slack: Slack, server: FakeSlack, grant: Grant, status: int) -> None:
    secret = grant.tokens.get("access_token") or grant.credentials["webhook_url"].rpartition("/")[2]
    server.refuse_next(call_of(grant), Answer(status, f"no {secret} A quiet word".encode()))

    with pytest.raises(PlatformError) as caught:
        send(slack, grant, "A quiet word")

    shown = f"{caught.value!r} {caught.value.__cause__!r} {grant!r}"
    assert secret not in shown
    assert "A quiet word" not in shown
