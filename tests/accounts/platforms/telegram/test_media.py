from __future__ import annotations

import io
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, BinaryIO

import pytest

from accounts.platforms.errors import ContentRejected, ReauthRequired, TokenExpired, Transient
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant, MediaFile, Published
from tests.accounts.platforms.telegram.steps import GIF, document, file, picture, publish, send, start, video
from tests.fakes.telegram import FakeTelegram


def gif(**fields: Any) -> MediaFile:
    return file("gif", "image/gif", GIF, "dance.png", **fields)


def content_of(media: MediaFile) -> bytes:
    with media.open() as opened:
        return opened.read()


@pytest.mark.parametrize(
    ("media", "method", "kind", "filename"),
    [
        (picture(), "sendPhoto", "photo", "photo.png"),
        (video(), "sendVideo", "video", "video.mp4"),
        (gif(), "sendAnimation", "animation", "animation.gif"),
        (document("report.pdf"), "sendDocument", "document", "report.pdf"),
        (document(""), "sendDocument", "document", "document.pdf"),
    ],
)
def test_one_file_is_sent_by_its_own_method_with_the_text_as_its_caption(
    telegram: Telegram,
    server: FakeTelegram,
    grant: Grant,
    channel: int,
    media: MediaFile,
    method: str,
    kind: str,
    filename: str,
) -> None:
    published = publish(
        telegram, grant, "<b>Look</b>", media, parse_mode="HTML", disable_notification=True, link_preview=False
    )

    (message,) = server.messages(channel)
    assert server.requests_to(method) == 1
    assert (message.kind, message.text, [entity["type"] for entity in message.entities]) == (kind, "Look", ["bold"])
    assert message.file is not None
    assert (message.file.content, message.file.filename) == (content_of(media), filename)
    assert message.file.mime_type == media.mime_type
    assert message.options["silent"] is True
    assert published == Published("1", "https://t.me/the_news/1")


def test_a_file_is_sent_without_a_text(telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int) -> None:
    publish(telegram, grant, "", picture(), reply_to_message_id=int(publish(telegram, grant, "First").external_id))

    message = server.messages(channel)[-1]
    assert (message.text, message.options["reply_to"]) == ("", 1)


def test_videos_and_gifs_are_sent_with_their_dimensions(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    publish(telegram, grant, "", video(width=640, height=360, duration_ms=12_600))
    publish(telegram, grant, "", gif(width=64, height=36))
    publish(telegram, grant, "", video(width=640, height=360, duration_ms=12_600), picture())

    film, dance, first, second = server.messages(channel)
    assert film.item == {"width": "640", "height": "360", "duration": "13"}
    assert dance.item == {"width": "64", "height": "36"}
    assert (first.item, second.item) == ({"width": 640, "height": 360, "duration": 13}, {})


def test_photos_and_videos_are_sent_as_an_album_with_one_caption(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    media = [picture(10, 10), video(), picture(20, 10)]

    published = publish(telegram, grant, "<i>Three</i>", *media, parse_mode="HTML", protect_content=True)

    messages = server.messages(channel)
    assert server.requests_to("sendMediaGroup") == 1
    assert [(message.kind, message.text) for message in messages] == [("photo", "Three"), ("video", ""), ("photo", "")]
    assert [message.file.content for message in messages if message.file] == [content_of(each) for each in media]
    assert len({message.media_group_id for message in messages}) == 1
    assert all(message.options["protected"] for message in messages)
    assert published == Published("1", "https://t.me/the_news/1")


def test_documents_are_sent_as_an_album_with_their_names(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    publish(telegram, grant, "", *(document(f"{number}.pdf") for number in range(10)))

    messages = server.messages(channel)
    assert [message.kind for message in messages] == ["document"] * 10
    assert [message.file.filename for message in messages if message.file] == [f"{n}.pdf" for n in range(10)]


@pytest.mark.parametrize(
    "media", [[picture(), document("report.pdf")], [document("report.pdf"), video()], [gif(), picture()], [gif(), gif()]]
)
def test_files_that_cannot_be_combined_are_rejected_before_anything_is_sent(
    telegram: Telegram, server: FakeTelegram, grant: Grant, media: list[MediaFile]
) -> None:
    before = len(server.requests)

    with pytest.raises(ContentRejected):
        start(telegram, grant, "Album", *media)

    assert len(server.requests) == before


@pytest.mark.parametrize(
    ("text", "media", "reason"),
    [
        ("😀" * 513, picture(), "message caption is too long"),
        ("", picture(9_000, 1_001), "PHOTO_INVALID_DIMENSIONS"),
        ("", picture(210, 10), "PHOTO_INVALID_DIMENSIONS"),
        ("", file("image", "image/png", b"no picture", "a.png"), "IMAGE_PROCESS_FAILED"),
        ("", file("video", "video/mp4", b"", "a.mp4"), "file must be non-empty"),
    ],
)
def test_media_that_telegram_refuses_are_rejected_with_its_reason(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, text: str, media: MediaFile, reason: str
) -> None:
    with pytest.raises(ContentRejected) as caught:
        publish(telegram, grant, text, media)

    assert caught.value.message == f"Telegram does not accept this post: Bad Request: {reason}"
    assert server.messages(channel) == ()


def test_a_bot_that_may_not_send_a_kind_of_media_is_disconnected(
    telegram: Telegram, server: FakeTelegram, grant: Grant, token: str, channel: int
) -> None:
    server.set_member(channel, token, "administrator", can_post_messages=False)

    with pytest.raises(ReauthRequired):
        publish(telegram, grant, "", picture())


class Opened:
    """Opens files and records whether they were closed."""

    def __init__(self) -> None:
        self.files: list[BinaryIO] = []

    def __call__(self) -> AbstractContextManager[BinaryIO]:
        self.files.append(io.BytesIO(content_of(picture())))
        return self.files[-1]


def test_files_are_opened_for_each_request_and_closed_after_it(telegram: Telegram, server: FakeTelegram, token: str) -> None:
    group = server.add_chat("group", "Friends")
    server.set_member(group, token, "member")
    grant = telegram.connect_with_credentials({"bot_token": token, "chat_id": str(group)}).grant
    supergroup = server.upgrade(group)
    opened = Opened()
    media = [replace(picture(), open=opened), replace(picture(), open=opened)]

    with pytest.raises(TokenExpired):
        publish(telegram, grant, "Album", *media)
    publish(telegram, telegram.refresh_grant(grant), "Album", *media)

    assert [message.kind for message in server.messages(supergroup)] == ["photo", "photo"]
    assert [each.closed for each in opened.files] == [True] * 4


def test_media_that_cannot_be_opened_are_tried_again(telegram: Telegram, server: FakeTelegram, grant: Grant) -> None:
    def fail() -> AbstractContextManager[BinaryIO]:
        raise RuntimeError("the storage is away")

    opened = Opened()
    media = [replace(picture(), open=opened), replace(picture(), open=fail)]
    progress = start(telegram, grant, "Album", *media)

    with pytest.raises(Transient):
        send(telegram, grant, progress, media)

    assert server.requests_to("sendMediaGroup") == 0
    assert [each.closed for each in opened.files] == [True]
