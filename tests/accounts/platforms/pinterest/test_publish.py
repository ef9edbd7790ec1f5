from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.pinterest.video import MAX_CHECKS
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.pinterest.steps import go_to, pin, publish, step
from tests.fakes.pinterest import ANNOUNCE, BOARDS, CREATE, LOOK, STORE, FakePinterest

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
VIDEO = media_file(MP4, "video/mp4", alt_text="A dance")


def test_a_pin_shows_an_image_with_all_that_is_told_of_it(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, boards: dict[str, str]
) -> None:
    image = media_file(picture(form="JPEG"), "image/jpeg", alt_text="Ein Stück Käse 🧀")

    published = publish(pinterest, grant, pin(image, text="Hello", title="A title", link="https://example.com/?a=1"))

    [made] = server.pins("alice")
    assert made == {
        "id": published.external_id,
        "board_id": boards["Recipes"],
        "title": "A title",
        "description": "Hello",
        "link": "https://example.com/?a=1",
        "alt_text": "Ein Stück Käse 🧀",
        "files": [("image/jpeg", picture(form="JPEG"))],
        "cover": None,
    }
    assert published.permalink == f"https://www.pinterest.com/pin/{made['id']}/"


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(0, marks=pytest.mark.beyond_the_document("a file without a byte")),
        *(1, 2, 3, 3 * 256 * 1024 - 1, 3 * 256 * 1024, 3 * 256 * 1024 + 1),
    ],
)
def test_bytes_arrive_unchanged(pinterest: Pinterest, server: FakePinterest, grant: Grant, size: int) -> None:
    content = bytes(number % 251 for number in range(size))

    publish(pinterest, grant, pin(media_file(content)))

    assert server.pins("alice")[0]["files"] == [("image/png", content)]


def test_a_file_that_is_read_in_odd_pieces_arrives_unchanged(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    class Dribble(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 7) if size and size > 0 else 7)

    content = bytes(range(256))

    publish(pinterest, grant, pin(replace(media_file(content), open=lambda: Dribble(content))))

    assert server.pins("alice")[0]["files"] == [("image/png", content)]


@pytest.mark.parametrize("count", [2, 5])
def test_several_images_are_one_pin_in_their_order_with_the_first_alt_text(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, count: int
) -> None:
    pictures = [picture(3 + number, 4) for number in range(count)]
    files = [media_file(content, alt_text=f"Picture {number}") for number, content in enumerate(pictures)]

    publish(pinterest, grant, pin(*files, text=""))

    [made] = server.pins("alice")
    assert made["files"] == [("image/png", content) for content in pictures]
    assert made["alt_text"] == "Picture 0"
    assert "description" not in made


@pytest.mark.parametrize(
    ("options", "cover"),
    [
        ({}, ("cover_image_key_frame_time", 0)),
        ({"cover_seconds": 3}, ("cover_image_key_frame_time", 3)),
        ({"cover_image_url": "https://example.com/c.jpg"}, ("cover_image_url", "https://example.com/c.jpg")),
    ],
)
def test_a_video_is_stored_processed_and_pinned_with_its_cover(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, options: dict[str, Any], cover: tuple[str, Any]
) -> None:
    server.process_videos(looks=2)
    phases, pauses = [], []
    progress: Progress | Published = Progress("start")
    with time_machine.travel(NOW, tick=False):
        while isinstance(progress, Progress):
            phases.append(progress.phase)
            pauses += [(progress.ready_at - NOW).total_seconds()] if progress.ready_at else []
            assert MP4 not in str(progress.state).encode()
            progress = step(pinterest, grant, pin(VIDEO, **options), progress)

    [made] = server.pins("alice")
    assert phases == ["start", "upload", "process", "process", "process", "create"]
    assert pauses == [5, 10]
    assert (made["files"], made["cover"], made["alt_text"]) == ([("video", MP4)], cover, "A dance")


def test_a_video_that_cannot_be_processed_is_rejected(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    server.process_videos(looks=1, fail=True)

    with pytest.raises(ContentRejected):
        publish(pinterest, grant, pin(VIDEO))
    assert server.requests_to(CREATE) == 0


def test_processing_is_not_waited_for_without_end(pinterest: Pinterest, server: FakePinterest, grant: Grant) -> None:
    server.process_videos(looks=10_000)
    progress = go_to("process", pinterest, grant, pin(VIDEO))
    late = Progress("process", {**progress.state, "looks": MAX_CHECKS - 1})
    late = step(pinterest, grant, pin(VIDEO), late)  # type: ignore[assignment]

    with pytest.raises(Transient):
        step(pinterest, grant, pin(VIDEO), late)


@pytest.mark.parametrize("phase", ["process", "create"])
def test_a_video_that_pinterest_has_forgotten_is_sent_once_more(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, phase: str
) -> None:
    progress = go_to(phase, pinterest, grant, pin(VIDEO))
    server.forget_videos()

    again = step(pinterest, grant, pin(VIDEO), progress)

    assert isinstance(again, Progress)
    assert again.phase == "upload"
    publish(pinterest, grant, pin(VIDEO), again)
    assert [made["files"] for made in server.pins("alice")] == [[("video", MP4)]]
    progress = go_to("create", pinterest, grant, pin(VIDEO), again)
    server.forget_videos()
    with pytest.raises(ContentRejected):
        step(pinterest, grant, pin(VIDEO), progress)


@pytest.mark.parametrize("call", [BOARDS, ANNOUNCE, STORE, LOOK])
@pytest.mark.parametrize("taken", [True, False])
def test_a_step_that_was_lost_is_repeated(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, call: str, taken: bool
) -> None:
    phase = {BOARDS: "start", ANNOUNCE: "upload", STORE: "upload", LOOK: "process"}[call]
    progress = go_to(phase, pinterest, grant, pin(VIDEO))
    server.drop_next(call, after_accept=taken)
    with pytest.raises(Transient):
        step(pinterest, grant, pin(VIDEO), progress)

    publish(pinterest, grant, pin(VIDEO), progress)

    assert [made["files"] for made in server.pins("alice")] == [[("video", MP4)]]


def test_a_board_is_meant_by_its_name_or_its_id(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, boards: dict[str, str]
) -> None:
    boards |= server.add_boards("alice", "2026")
    for board in ("Garden", " Recipes ", "2026", boards["Garden"]):
        publish(pinterest, grant, pin(board=board))

    meant = ("Garden", "Recipes", "2026", "Garden")
    assert [made["board_id"] for made in server.pins("alice")] == [boards[name] for name in meant]
    assert server.requests_to(BOARDS) == 3


def test_a_board_among_hundreds_is_found(pinterest: Pinterest, server: FakePinterest, grant: Grant) -> None:
    ids = server.add_boards("alice", *(f"Board {number}" for number in range(600)))

    publish(pinterest, grant, pin(board="Board 599"))

    assert server.pins("alice")[0]["board_id"] == ids["Board 599"]


def test_a_board_that_is_not_there_is_told_by_those_that_are(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    with pytest.raises(ContentRejected, match="it has Garden, Recipes"):
        publish(pinterest, grant, pin(board="Travel"))
    with pytest.raises(ContentRejected, match="Board not found"):
        publish(pinterest, grant, pin(board="549755000000"))


def test_text_alone_is_no_pin(pinterest: Pinterest, grant: Grant, server: FakePinterest) -> None:
    with pytest.raises(ContentRejected):
        publish(pinterest, grant, Content("tgt_1", "Hello", {"board": "Recipes"}))


def test_files_that_cannot_be_read_are_told_before_anything_is_sent(
    pinterest: Pinterest, server: FakePinterest, grant: Grant
) -> None:
    @contextmanager
    def broken() -> Any:
        raise OSError("the storage is away")
        yield

    content = pin(replace(media_file(picture()), open=broken))
    with pytest.raises(Transient):
        publish(pinterest, grant, content)
    assert server.requests_to(CREATE) == 0
