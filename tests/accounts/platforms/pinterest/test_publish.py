from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.pinterest.video import MAX_CHECKS
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.pinterest.steps import go_to, pin, publish, step
from tests.fakes.pinterest import ANNOUNCE, BOARDS, CREATE, STATUS, STORE, FakePinterest
from tests.posts.rows import NOON

VIDEO = media_file(MP4, "video/mp4", alt_text="A dance")


def test_a_pin_has_its_image_and_texts(server: FakePinterest, grant: Grant, boards: dict[str, str]) -> None:
    image = media_file(picture(form="JPEG"), "image/jpeg", alt_text="Ein Stück Käse 🧀")

    published = publish(grant, pin(image, text="Hello", title="A title", link="https://example.com/?a=1"))

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
def test_a_file_is_sent_unchanged(server: FakePinterest, grant: Grant, size: int) -> None:
    content = bytes(number % 251 for number in range(size))

    publish(grant, pin(media_file(content)))

    assert server.pins("alice")[0]["files"] == [("image/png", content)]


def test_a_file_that_is_read_in_odd_pieces_is_sent_unchanged(server: FakePinterest, grant: Grant) -> None:
    class Dribble(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 7) if size and size > 0 else 7)

    content = bytes(range(256))

    publish(grant, pin(replace(media_file(content), open=lambda: Dribble(content))))

    assert server.pins("alice")[0]["files"] == [("image/png", content)]


@pytest.mark.parametrize("count", [2, 5])
def test_several_images_are_one_pin_with_the_first_alt_text(server: FakePinterest, grant: Grant, count: int) -> None:
    pictures = [picture(3 + number, 4) for number in range(count)]
    files = [media_file(content, alt_text=f"Picture {number}") for number, content in enumerate(pictures)]

    publish(grant, pin(*files, text=""))

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
def test_a_video_is_uploaded_processed_and_published_with_its_cover(
    server: FakePinterest, grant: Grant, options: dict[str, Any], cover: tuple[str, Any]
) -> None:
    server.process_videos(checks=2)
    phases, pauses = [], []
    progress: Progress | Published = Progress("start")
    while isinstance(progress, Progress):
        phases.append(progress.phase)
        pauses += [(progress.ready_at - NOON).total_seconds()] if progress.ready_at else []
        progress = step(grant, pin(VIDEO, **options), progress)

    [made] = server.pins("alice")
    assert phases == ["start", "upload", "process", "process", "process", "create"]
    assert pauses == [5, 10]
    assert (made["files"], made["cover"], made["alt_text"]) == ([("video", MP4)], cover, "A dance")


def test_a_video_that_cannot_be_processed_is_rejected(server: FakePinterest, grant: Grant) -> None:
    server.process_videos(checks=1, fail=True)

    with pytest.raises(ContentRejected):
        publish(grant, pin(VIDEO))
    assert server.requests_to(CREATE) == 0


def test_the_number_of_checks_is_limited(server: FakePinterest, grant: Grant) -> None:
    server.process_videos(checks=10_000)
    progress = go_to("process", grant, pin(VIDEO))
    late = Progress("process", {**progress.state, "looks": MAX_CHECKS - 1})
    late = step(grant, pin(VIDEO), late)  # type: ignore[assignment]

    with pytest.raises(Transient):
        step(grant, pin(VIDEO), late)


@pytest.mark.parametrize("phase", ["process", "create"])
def test_a_video_that_pinterest_has_deleted_is_uploaded_again_once(server: FakePinterest, grant: Grant, phase: str) -> None:
    progress = go_to(phase, grant, pin(VIDEO))
    server.forget_videos()

    again = step(grant, pin(VIDEO), progress)

    assert isinstance(again, Progress)
    assert again.phase == "upload"
    publish(grant, pin(VIDEO), again)
    assert [made["files"] for made in server.pins("alice")] == [[("video", MP4)]]
    progress = go_to("create", grant, pin(VIDEO), again)
    server.forget_videos()
    with pytest.raises(ContentRejected):
        step(grant, pin(VIDEO), progress)


@pytest.mark.parametrize("call", [BOARDS, ANNOUNCE, STORE, STATUS])
@pytest.mark.parametrize("accepted", [True, False])
def test_a_lost_step_is_repeated(server: FakePinterest, grant: Grant, call: str, accepted: bool) -> None:
    phase = {BOARDS: "start", ANNOUNCE: "upload", STORE: "upload", STATUS: "process"}[call]
    progress = go_to(phase, grant, pin(VIDEO))
    server.drop_next(call, after_accept=accepted)
    with pytest.raises(Transient):
        step(grant, pin(VIDEO), progress)

    publish(grant, pin(VIDEO), progress)

    assert [made["files"] for made in server.pins("alice")] == [[("video", MP4)]]


def test_a_board_is_named_or_given_by_its_id(server: FakePinterest, grant: Grant, boards: dict[str, str]) -> None:
    boards |= server.add_boards("alice", "2026")
    for board in ("Garden", " Recipes ", "2026", boards["Garden"]):
        publish(grant, pin(board=board))

    expected = ("Garden", "Recipes", "2026", "Garden")
    assert [made["board_id"] for made in server.pins("alice")] == [boards[name] for name in expected]
    assert server.requests_to(BOARDS) == 3


def test_a_board_among_hundreds_is_found(server: FakePinterest, grant: Grant) -> None:
    ids = server.add_boards("alice", *(f"Board {number}" for number in range(600)))

    publish(grant, pin(board="Board 599"))

    assert server.pins("alice")[0]["board_id"] == ids["Board 599"]


def test_an_unknown_board_is_rejected_with_the_names_of_the_others(server: FakePinterest, grant: Grant) -> None:
    with pytest.raises(ContentRejected, match="it has Garden, Recipes"):
        publish(grant, pin(board="Travel"))
    with pytest.raises(ContentRejected, match="Board not found"):
        publish(grant, pin(board="549755000000"))


def test_a_text_without_media_is_rejected(grant: Grant, server: FakePinterest) -> None:
    with pytest.raises(ContentRejected):
        publish(grant, Content("tgt_1", "Hello", {"board": "Recipes"}))


def test_nothing_is_sent_if_a_file_cannot_be_read(server: FakePinterest, grant: Grant) -> None:
    @contextmanager
    def broken() -> Any:
        raise OSError("the storage is away")
        yield

    content = pin(replace(media_file(picture()), open=broken))
    with pytest.raises(Transient):
        publish(grant, content)
    assert server.requests_to(CREATE) == 0
