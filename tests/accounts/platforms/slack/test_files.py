"""Messages with files: uploaded one by one and shared once, and what Slack refuses of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from accounts.platforms.errors import AccountDisconnected, ContentRejected, PlatformError, Transient
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.slack.capabilities import SCOPES
from accounts.platforms.types import AccountDetails, Grant, MediaFile
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.accounts.platforms.slack.steps import go_to, publish, send, step, with_files
from tests.fakes.http_server import Answer
from tests.fakes.slack import ANNOUNCE, SHARE, UPLOAD, Channel, FakeSlack


def refusal(code: str) -> Answer:
    return Answer.of_json({"ok": False, "error": code})


def test_files_of_all_kinds_stand_in_one_message(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    gif = media_file(picture(form="GIF"), "image/gif", kind="gif")
    video, document = media_file(MP4, "video/mp4"), media_file(PDF, "application/pdf", alt_text="not told")

    published = publish(slack, app, with_files(image, gif, video, document, text="Fish & <!here>"))

    [message] = server.messages(joined)
    assert (message["text"], message["control"]) == ("Fish & <!here>", [])
    assert message["files"] == [(picture(), "A teal bench"), (picture(form="GIF"), ""), (MP4, ""), (PDF, "")]
    assert published.external_id == message["ts"]
    assert published.permalink == f"{server.url}/archives/{joined.id}/p{message['ts'].replace('.', '')}"


def test_files_stand_without_a_text_in_a_private_channel_and_in_a_thread(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    joined.private = True
    parent = send(slack, app, "Question")

    reply = publish(slack, app, with_files(image, text="", thread_ts=parent.external_id))

    message = server.messages(joined)[1]
    assert (message["text"], message["thread_ts"], message["ts"]) == ("", parent.external_id, reply.external_id)
    assert reply.permalink.endswith(f"?thread_ts={parent.external_id}&cid={joined.id}")


@pytest.mark.parametrize(
    ("call", "code", "fault", "words"),
    [
        (ANNOUNCE, "missing_scope", ContentRejected, "without the permission to upload"),
        (ANNOUNCE, "file_upload_size_restricted", ContentRejected, "file_upload_size_restricted"),
        (ANNOUNCE, "file_uploads_disabled", ContentRejected, "file_uploads_disabled"),
        (ANNOUNCE, "storage_limit_reached", ContentRejected, "storage_limit_reached"),
        (ANNOUNCE, "token_revoked", AccountDisconnected, "token_revoked"),
        (SHARE, "not_in_channel", ContentRejected, "member"),
        (SHARE, "no_permission", ContentRejected, "member of: no_permission"),
        (SHARE, "posting_to_channel_denied", ContentRejected, "member of: posting_to_channel_denied"),
        (SHARE, "channel_not_found", ContentRejected, "member of: channel_not_found"),
        (SHARE, "file_type_not_allowed", ContentRejected, "file_type_not_allowed"),
        (SHARE, "is_archived", AccountDisconnected, "is_archived"),
        (SHARE, "slack_connect_file_upload_sharing_blocked", ContentRejected, "blocked"),
        (SHARE, "ratelimited", Transient, "rate limit"),
    ],
)
def test_what_slack_refuses_is_told_by_what_helps(
    slack: Slack,
    server: FakeSlack,
    joined: Channel,
    app: Grant,
    image: MediaFile,
    caplog: pytest.LogCaptureFixture,
    call: str,
    code: str,
    fault: type[PlatformError],
    words: str,
) -> None:
    server.refuse_next(call, refusal(code))

    with pytest.raises(fault, match=words):
        publish(slack, app, with_files(image))

    assert server.messages(joined) == []
    assert caplog.records == []


def test_an_account_without_the_permission_for_files_is_told_to_connect_again(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    """As one that was connected before the service asked for it. Its texts go out as before."""
    server.limit_scopes("chat:write", "chat:write.public", "channels:read", "groups:read")

    with pytest.raises(ContentRejected) as caught:
        publish(slack, app, with_files(image))

    assert "Connect the channel again" in caught.value.suggested_action
    assert send(slack, app, "Hello").external_id == server.messages(joined)[0]["ts"]


def test_a_channel_that_the_app_has_not_joined_is_told_before_anything_is_public(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    joined.has_app = False

    with pytest.raises(ContentRejected) as caught:
        publish(slack, app, with_files(image))

    assert "Invite the app" in caught.value.suggested_action
    assert server.messages(joined) == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer.of_json({"ok": True, "file_id": "F1", "upload_url": "https://files.slack.com.evil.example/upload/v1/x"}),
        Answer.of_json({"ok": True, "file_id": "F1", "upload_url": "http://files.slack.com/upload/v1/x"}),
        Answer.of_json({"ok": True, "file_id": "F1", "upload_url": "http://127.0.0.1:9/upload/v1/x"}),
        Answer.of_json({"ok": True, "file_id": "../F1", "upload_url": "https://files.slack.com/upload/v1/x"}),
        Answer.of_json({"ok": True}),
    ],
)
def test_files_are_sent_to_slack_alone(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile, answer: Answer
) -> None:
    server.refuse_next(ANNOUNCE, answer)

    with pytest.raises(Transient):
        publish(slack, app, with_files(image))

    assert server.requests_to(UPLOAD) == 0


@pytest.mark.parametrize(
    "arrange",
    [
        lambda server: server.drop_next(UPLOAD),
        lambda server: server.fail_next(UPLOAD, 503),
        lambda server: server.refuse_next(UPLOAD, Answer(302, b"", {"Location": "http://127.0.0.1:9/"})),
    ],
    ids=["drop", "503", "302"],
)
def test_a_file_that_did_not_arrive_is_sent_again_to_a_new_address(
    slack: Slack,
    server: FakeSlack,
    joined: Channel,
    app: Grant,
    image: MediaFile,
    arrange: Callable[[FakeSlack], None],
) -> None:
    content = with_files(image)
    progress = go_to("upload", slack, app, content)
    arrange(server)

    with pytest.raises(Transient):
        step(slack, app, content, progress)

    publish(slack, app, content, progress)
    assert server.requests_to(ANNOUNCE) == 2
    assert [message["files"] for message in server.messages(joined)] == [[(picture(), "A teal bench")]]


@pytest.mark.parametrize("option", ["mrkdwn", "unfurl_links", "unfurl_media"])
def test_options_of_a_text_change_nothing_about_files(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile, option: str
) -> None:
    publish(slack, app, replace(with_files(image), options={option: True}))

    assert len(server.messages(joined)) == 1


def test_a_webhook_carries_no_files(slack: Slack, server: FakeSlack, joined: Channel, image: MediaFile) -> None:
    connection = slack.connect({"webhook_url": server.add_webhook(joined)})

    with pytest.raises(ContentRejected, match="incoming webhook"):
        step(slack, connection.grant, with_files(image))

    taken = slack.capabilities_for(AccountDetails(connection.identity.external_id))
    assert (taken.media.max_count, taken.retry_safety, "images" in taken.features) == (0, "at_most_once", False)
    assert slack.capabilities_for(AccountDetails("T1/C1", scopes=SCOPES)) is slack.capabilities
    assert server.messages(joined) == []


def test_a_connection_from_before_the_scopes_of_files_takes_none_until_it_is_made_again(slack: Slack) -> None:
    taken = slack.capabilities_for(AccountDetails("T1/C1", scopes=("chat:write", "channels:read")))

    assert (taken.media.max_count, "images" in taken.features) == (0, False)
    assert "Connect the channel again" in taken.media.none_because


def test_no_fault_shows_the_token_or_the_address_of_an_upload(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    server.fail_next(UPLOAD, 500)
    content = with_files(replace(image, filename="plan.png"))

    with pytest.raises(PlatformError) as caught:
        publish(slack, app, content)

    shown = f"{caught.value!r} {caught.value.__cause__!r} {go_to('share', slack, app, content)!r}"
    assert app.tokens["access_token"] not in shown
    assert not [file for file in server.files.files.values() if file.address in shown]
