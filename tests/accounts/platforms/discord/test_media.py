from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.discord.steps import send
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook
from tests.fakes.discord_messages import MAX_FILE_BYTES

PNG = picture()


def test_files_are_sent_in_order_with_their_types_and_alt_texts(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    files = [
        media_file(PNG, alt_text="A teal field – «klein»", filename="fjällräven.png"),
        media_file(picture(form="GIF"), "image/gif", kind="gif"),
        media_file(MP4, "video/mp4", alt_text="A film"),
        media_file(PDF, "application/pdf", filename=""),
    ]

    published = send(discord, grant, "Look", *files, username="Town crier")

    (message,) = server.messages(webhook)
    assert (message["content"], message["author"]["username"]) == ("Look", "Town crier")
    assert published.external_id == message["id"]
    assert [(one["filename"], one["content_type"], one["description"], one["data"]) for one in message["attachments"]] == [
        ("fjällräven.png", "image/png", "A teal field – «klein»", PNG),
        ("file.gif", "image/gif", None, picture(form="GIF")),
        ("file.mp4", "video/mp4", "A film", MP4),
        ("file-4.pdf", "application/pdf", None, PDF),
    ]
    assert server.requests_to(EXECUTE) == 1


def test_a_file_is_sent_without_a_text(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    send(discord, grant, "", media_file(PNG), thread_id=server.add_thread(webhook))

    (message,) = server.messages(webhook)
    assert (message["content"], len(message["attachments"])) == ("", 1)
    assert message["channel_id"] in webhook.threads


def test_two_files_may_have_the_same_name(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    send(discord, grant, "", media_file(b"one", alt_text="1"), media_file(b"two", alt_text="2"))

    attachments = server.messages(webhook)[0]["attachments"]
    assert [(one["description"], one["data"]) for one in attachments] == [("1", b"one"), ("2", b"two")]


@pytest.mark.beyond_the_document("more files and longer descriptions than Discord takes")
@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ([media_file(bytes(MAX_FILE_BYTES + 1))], "Request entity too large"),
        ([media_file(bytes(9_000_000))] * 3, "Request entity too large"),
        ([media_file(PNG)] * 11, "Maximum number of attachments in a message reached (10)"),
        (
            [media_file(PNG), media_file(PNG, alt_text="x" * 1025)],
            "attachments.1.description: Must be 1024 or fewer in length.",
        ),
    ],
    ids=["a large file", "too much together", "eleven files", "a long alt text"],
)
def test_files_that_discord_refuses_are_rejected_with_its_reason(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, files: list[Any], complaint: str
) -> None:
    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Look", *files)

    assert caught.value.message == f"Discord does not accept this message: {complaint}"
    assert server.messages(webhook) == []


def test_a_file_that_cannot_be_opened_sends_nothing(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    def gone() -> NoReturn:
        raise FileNotFoundError

    with pytest.raises(Transient):
        send(discord, grant, "Look", media_file(PNG), replace(media_file(PNG), open=gone))

    assert (server.requests_to(EXECUTE), server.messages(webhook)) == (0, [])


def test_a_file_that_fails_while_it_is_sent_leaves_the_outcome_unknown(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, tmp_path: Path
) -> None:
    class Breaking(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 100_000:
                raise OSError("the storage went away")
            return super().read(size)

    stored = tmp_path / "film"
    stored.write_bytes(bytes(1_000_000))

    with pytest.raises(OutcomeUnknown):
        send(discord, grant, "Look", replace(media_file(PNG), open=lambda: Breaking(stored)))

    assert server.messages(webhook) == []


def test_every_file_is_closed(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    opened: list[io.BytesIO] = []

    def open_it() -> io.BytesIO:
        opened.append(io.BytesIO(PNG))
        return opened[-1]

    file = replace(media_file(PNG), open=open_it)
    send(discord, grant, "Look", file, file)
    server.fail_next(EXECUTE)
    with pytest.raises(OutcomeUnknown):
        send(discord, grant, "Look", file)

    assert [one.closed for one in opened] == [True] * 3


def test_messages_with_and_without_files_have_the_same_fields(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    options = {"suppress_embeds": True, "username": "Town crier"}
    send(discord, grant, "@everyone", media_file(PNG), **options)
    send(discord, grant, "@everyone", **options)

    with_files, without = server.messages(webhook)
    fields = ("content", "flags", "mention_everyone", "author")
    assert json.dumps([with_files[key] for key in fields]) == json.dumps([without[key] for key in fields])
    assert with_files["mention_everyone"] is False
