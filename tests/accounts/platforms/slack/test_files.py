"""Slack messages with files, and Slack's refusals of files."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected, PlatformError, ReauthRequired, Transient
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.slack.capabilities import SCOPES
from accounts.platforms.types import AccountLimitsAndScopes, Grant, MediaFile
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.accounts.platforms.slack.steps import publish, refusal, send, step, with_files
from tests.fakes.http_server import Answer
from tests.fakes.slack import ANNOUNCE, SHARE, UPLOAD, Channel, FakeSlack


def test_files_of_all_kinds_are_posted_in_one_message(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    gif = media_file(picture(form="GIF"), "image/gif", kind="gif")
    video, document = media_file(MP4, "video/mp4"), media_file(PDF, "application/pdf", alt_text="ignored")

    published = publish(slack, app, with_files(image, gif, video, document, text="Fish & <!here>"))

    [message] = server.messages(joined)
    assert (message["text"], message["control"]) == ("Fish & <!here>", [])
    assert message["files"] == [(picture(), "A teal bench"), (picture(form="GIF"), ""), (MP4, ""), (PDF, "")]
    assert published.external_id == message["ts"]
    assert published.permalink == f"{server.url}/archives/{joined.id}/p{message['ts'].replace('.', '')}"


def test_files_are_posted_without_a_text_in_a_thread_of_a_private_channel(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    joined.private = True
    parent = send(slack, app, "Question")

    reply = publish(slack, app, with_files(image, text="", thread_ts=parent.external_id))

    message = server.messages(joined)[1]
    assert (message["text"], message["thread_ts"], message["ts"]) == ("", parent.external_id, reply.external_id)
    assert reply.permalink.endswith(f"?thread_ts={parent.external_id}&cid={joined.id}")


@pytest.mark.parametrize(
    ("call", "code", "error", "words"),
    [
        (ANNOUNCE, "missing_scope", ContentRejected, "without the permission to upload"),
        (ANNOUNCE, "file_upload_size_restricted", ContentRejected, "file_upload_size_restricted"),
        (ANNOUNCE, "file_uploads_disabled", ContentRejected, "file_uploads_disabled"),
        (ANNOUNCE, "storage_limit_reached", ContentRejected, "storage_limit_reached"),
        (ANNOUNCE, "token_revoked", ReauthRequired, "token_revoked"),
        (SHARE, "not_in_channel", ContentRejected, "member"),
        (SHARE, "no_permission", ContentRejected, "member of: no_permission"),
        (SHARE, "posting_to_channel_denied", ContentRejected, "member of: posting_to_channel_denied"),
        (SHARE, "channel_not_found", ContentRejected, "member of: channel_not_found"),
        (SHARE, "file_type_not_allowed", ContentRejected, "file_type_not_allowed"),
        (SHARE, "is_archived", ReauthRequired, "is_archived"),
        (SHARE, "slack_connect_file_upload_sharing_blocked", ContentRejected, "blocked"),
        (SHARE, "ratelimited", Transient, "rate limit"),
    ],
)
def test_each_refusal_of_a_file_raises_the_matching_error(
    slack: Slack,
    server: FakeSlack,
    joined: Channel,
    app: Grant,
    image: MediaFile,
    caplog: pytest.LogCaptureFixture,
    call: str,
    code: str,
    error: type[PlatformError],
    words: str,
) -> None:
    server.refuse_next(call, refusal(code))

    with pytest.raises(error, match=words):
        publish(slack, app, with_files(image))

    assert server.messages(joined) == []
    assert caplog.records == []


def test_an_account_without_the_permission_for_files_posts_texts_only(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    server.limit_scopes("chat:write", "chat:write.public", "channels:read", "groups:read")

    with pytest.raises(ContentRejected) as caught:
        publish(slack, app, with_files(image))

    assert "Connect the channel again" in caught.value.suggested_action
    assert send(slack, app, "Hello").external_id == server.messages(joined)[0]["ts"]


@pytest.mark.parametrize(
    ("file_id", "address"),
    [
        ("F1", "https://files.slack.com.evil.example/upload/v1/x"),
        ("F1", "http://files.slack.com/upload/v1/x"),
        ("F1", "{other}/upload/v1/x"),
        ("../F1", "https://files.slack.com/upload/v1/x"),
        ("F1", None),
    ],
)
def test_files_are_sent_to_slack_only(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile, file_id: str, address: str | None
) -> None:
    with FakeSlack() as other:
        url = address and address.format(other=other.url)
        server.refuse_next(ANNOUNCE, Answer.of_json({"ok": True, "file_id": file_id, "upload_url": url}))

        with pytest.raises(Transient):
            publish(slack, app, with_files(image))

        assert (other.requests, server.requests_to(UPLOAD)) == ((), 0)


def test_options_of_a_text_are_ignored_with_files(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    publish(slack, app, with_files(image, mrkdwn=True, unfurl_links=True, unfurl_media=True))

    assert len(server.messages(joined)) == 1


def test_a_webhook_carries_no_files(slack: Slack, server: FakeSlack, joined: Channel, image: MediaFile) -> None:
    connection = slack.connect_with_credentials({"webhook_url": server.add_webhook(joined)})

    with pytest.raises(ContentRejected, match="incoming webhook"):
        step(slack, connection.grant, with_files(image))

    capabilities = slack.capabilities_for(AccountLimitsAndScopes(connection.identity.external_id))
    assert (capabilities.media.max_count, capabilities.retry_safety, "images" in capabilities.features) == (
        0,
        "at_most_once",
        False,
    )
    assert slack.capabilities_for(AccountLimitsAndScopes("T1/C1", scopes=SCOPES)) is slack.capabilities
    assert server.messages(joined) == []


def test_a_connection_without_the_scopes_for_files_accepts_no_files(slack: Slack) -> None:
    capabilities = slack.capabilities_for(AccountLimitsAndScopes("T1/C1", scopes=("chat:write", "channels:read")))

    assert (capabilities.media.max_count, "images" in capabilities.features) == (0, False)
    assert "Connect the channel again" in capabilities.media.none_because
