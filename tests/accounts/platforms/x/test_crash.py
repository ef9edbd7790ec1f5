"""A worker may die after any step, before anybody has stored what came of it."""

from __future__ import annotations

import pytest

from accounts.platforms.types import Absent, Content, Grant, MediaFile, Progress, Published
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.x.steps import look, post, step, thread
from tests.fakes.x import FakeX

PHOTO = media_file(picture(), alt_text="A photo")


def illustrated_thread(*media: MediaFile) -> Content:
    return post("One", *media, thread=[{"text": "Two"}, {"text": "Three"}])


def bytes_of(file: MediaFile) -> bytes:
    with file.open() as opened:
        return opened.read()


def taken_again(x: X, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
    """What another worker makes of a step whose first worker died after it: it looks where the step may have published,
    and repeats the others."""
    step(x, grant, content, progress)
    if progress.phase not in x.irreversible:
        return step(x, grant, content, progress)
    found = look(x, grant, content, progress)
    assert not isinstance(found, Absent)
    return found


@pytest.mark.parametrize(
    "content",
    [
        thread("One", "Two", "Three"),
        illustrated_thread(PHOTO),
        illustrated_thread(media_file(MP4, "video/mp4")),
    ],
    ids=["plain", "with a photo", "with a video"],
)
def test_a_thread_whose_workers_die_after_every_step_is_there_once(
    x: X, server: FakeX, grant: Grant, content: Content
) -> None:
    server.process_media(looks=4)
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        result = taken_again(x, grant, content, result)

    made = server.posts("alice")
    texts = [content.text, *(segment["text"] for segment in content.options.get("thread", []))]
    assert [each["text"] for each in made] == texts
    assert result.external_id == made[0]["id"]
    assert [each["reply_to"] for each in made] == [None, *(each["id"] for each in made[:-1])]
    assert [(data, alt_text) for _, data, alt_text in made[0]["media"]] == [
        (bytes_of(file), file.alt_text or None) for file in content.media
    ]
