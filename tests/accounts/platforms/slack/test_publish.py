from __future__ import annotations

import pytest

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Grant
from tests.accounts.platforms.slack.steps import install, refusal, send
from tests.fakes.http_server import Answer
from tests.fakes.slack import POST_MESSAGE, WEBHOOK, Channel, FakeSlack


def call_of(grant: Grant) -> str:
    return WEBHOOK if grant.credentials else POST_MESSAGE


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


def test_a_reply_is_posted_in_its_thread(slack: Slack, server: FakeSlack, channel: Channel) -> None:
    [connection] = install(slack, server)
    parent = send(slack, connection.grant, "Question")

    reply = send(slack, connection.grant, "Answer", thread_ts=parent.external_id)

    assert server.messages(channel)[1]["thread_ts"] == parent.external_id
    assert reply.permalink.endswith(f"?thread_ts={parent.external_id}&cid={channel.id}")
    with pytest.raises(ContentRejected, match="thread_not_found"):
        send(slack, connection.grant, "Answer", thread_ts="1.000001")


@pytest.mark.parametrize("status", [None, 503])
def test_a_lost_answer_leaves_the_outcome_unknown_for_good(
    slack: Slack, server: FakeSlack, channel: Channel, grant: Grant, status: int | None
) -> None:
    if status:
        server.fail_next(call_of(grant), status, after_accept=True)
    else:
        server.drop_next(call_of(grant))

    with pytest.raises(OutcomeUnknown) as caught:
        send(slack, grant)

    assert caught.value.final
    assert len(server.messages(channel)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>"),
        Answer(202, b"accepted"),
        Answer(204),
        Answer.of_json({}),
        Answer.of_json({"ok": True, "ts": "../1"}),
        refusal("internal_error"),
    ],
)
def test_an_unclear_answer_leaves_the_outcome_unknown(slack: Slack, server: FakeSlack, grant: Grant, answer: Answer) -> None:
    server.refuse_next(call_of(grant), answer)

    with pytest.raises(OutcomeUnknown):
        send(slack, grant)


@pytest.mark.parametrize(
    ("grant", "status", "code", "error"),
    [
        ("app", 200, "token_revoked", ReauthRequired),
        ("app", 200, "account_inactive", ReauthRequired),
        ("app", 200, "missing_scope", ReauthRequired),
        ("app", 200, "channel_not_found", ReauthRequired),
        ("app", 200, "is_archived", ReauthRequired),
        ("app", 200, "not_in_channel", ReauthRequired),
        ("app", 200, "msg_too_long", ContentRejected),
        ("app", 200, "restricted_action_read_only_channel", ReauthRequired),
        ("app", 200, "restricted_action_thread_only_channel", ContentRejected),
        ("app", 200, "slack_connect_canvas_sharing_blocked", ContentRejected),
        ("app", 200, "invalid_arguments", ContentRejected),
        ("app", 200, "ratelimited", RateLimited),
        ("app", 200, "service_unavailable", Transient),
        ("app", 200, "request_timeout", Transient),
        ("webhook", 404, "no_service", ReauthRequired),
        ("webhook", 403, "invalid_token", ReauthRequired),
        ("webhook", 410, "channel_is_archived", ReauthRequired),
        ("webhook", 403, "action_prohibited", ReauthRequired),
        ("webhook", 400, "invalid_payload", ContentRejected),
        ("webhook", 400, "no_text", ContentRejected),
        ("webhook", 429, "rate_limited", RateLimited),
        ("webhook", 404, "<html>", Transient),
        ("webhook", 307, "", Transient),
    ],
    indirect=["grant"],
)
def test_each_refusal_raises_the_matching_error(
    slack: Slack,
    server: FakeSlack,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    status: int,
    code: str,
    error: type[PlatformError],
) -> None:
    server.refuse_next(call_of(grant), Answer(status, code.encode()) if grant.credentials else refusal(code))

    with pytest.raises(PlatformError) as caught:
        send(slack, grant)

    assert type(caught.value) is error
    assert caplog.records == []


def test_an_unknown_code_is_reported_to_the_operator(
    slack: Slack, server: FakeSlack, grant: Grant, caplog: pytest.LogCaptureFixture
) -> None:
    code = "brand_new_reason"
    server.refuse_next(call_of(grant), Answer(403, code.encode()) if grant.credentials else refusal(code))

    with pytest.raises(Transient, match=code):
        send(slack, grant)

    [record] = caplog.records
    assert (record.levelname, code in record.getMessage()) == ("WARNING", True)


@pytest.mark.parametrize("status", [200, 403, 500])
def test_no_error_shows_a_secret(slack: Slack, server: FakeSlack, grant: Grant, status: int) -> None:
    secret = grant.tokens.get("access_token") or grant.credentials["webhook_url"].rpartition("/")[2]
    server.refuse_next(call_of(grant), Answer(status, f"no {secret}".encode()))

    with pytest.raises(PlatformError) as caught:
        send(slack, grant)

    assert secret not in f"{caught.value!r} {caught.value.__cause__!r} {grant!r}"
