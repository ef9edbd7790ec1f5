from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from accounts.platforms.errors import ContentRejected, PlatformError, TokenExpired, Transient
from accounts.platforms.types import Grant, MediaFile, Progress, Published
from accounts.platforms.x.media import MAX_CHECKS
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.accounts.platforms.x.steps import go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import APPEND, CREATE, FINALIZE, INITIALIZE, METADATA, STATUS, TIMELINE, UPLOAD
from tests.posts.rows import NOON

GIF = picture(form="GIF")
VIDEO = media_file(MP4, "video/mp4")


def gif(alt_text: str = "") -> MediaFile:
    return media_file(GIF, "image/gif", kind="gif", alt_text=alt_text)


def big_video(tmp_path: Path, megabytes: int) -> MediaFile:
    path = tmp_path / "long.mp4"
    path.write_bytes(b"".join(bytes([number]) * 1024 * 1024 for number in range(megabytes)) + b"the end")
    return MediaFile("video", "video/mp4", path.stat().st_size, open=lambda: path.open("rb"))


def media_of(server: FakeX) -> list[list[tuple[str, bytes, str | None]]]:
    return [made["media"] for made in server.posts("alice")]


def test_images_are_uploaded_one_per_step_in_their_order_with_alt_texts(server: FakeX, grant: Grant) -> None:
    first, second, third = picture(colour="red"), picture(form="JPEG"), picture(form="WEBP")
    content = post(
        "Look",
        media_file(first, alt_text="A flower"),
        media_file(second, "image/jpeg"),
        media_file(third, "image/webp", alt_text="Ein Stück Käse 🧀"),
    )
    phases = []
    progress: Progress | Published = Progress("start")
    while isinstance(progress, Progress):
        phases.append(progress.phase)
        progress = step(grant, content, progress)

    assert phases == ["start", "upload", "upload", "upload", "describe", "describe", "create"]
    [shown] = media_of(server)
    assert shown == [
        ("tweet_image", first, "A flower"),
        ("tweet_image", second, None),
        ("tweet_image", third, "Ein Stück Käse 🧀"),
    ]


def test_a_gif_file_is_uploaded_as_an_image_or_as_an_animation(server: FakeX, grant: Grant) -> None:
    publish(grant, post("Still", media_file(GIF, "image/gif", kind="image", alt_text="A dot")))
    publish(grant, post("Moving", gif("A dancing dot")))

    assert media_of(server) == [[("tweet_image", GIF, "A dot")], [("tweet_gif", GIF, "A dancing dot")]]


def test_a_video_is_uploaded_in_parts_several_per_step(server: FakeX, grant: Grant, tmp_path: Path) -> None:
    content = post("Look", big_video(tmp_path, 33))
    sent = []
    progress = go_to("append", grant, content)
    while progress.phase == "append":
        following = step(grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
        sent.append(server.requests_to(APPEND))

    assert (sent, progress.phase) == ([8, 9], "finalize")
    assert b"the end" not in str(progress.state).encode()
    publish(grant, content, progress)
    with content.media[0].open() as opened:
        assert media_of(server) == [[("tweet_video", opened.read(), None)]]


def test_no_alt_text_is_sent_for_a_video(server: FakeX, grant: Grant) -> None:
    publish(grant, post("Look", media_file(MP4, "video/mp4", alt_text="A dance")))

    assert (media_of(server), server.requests_to(METADATA)) == ([[("tweet_video", MP4, None)]], 0)


def test_the_pause_between_checks_is_the_one_that_x_asks_for(server: FakeX, grant: Grant) -> None:
    server.process_media(checks=3)
    content, pauses = post("Look", VIDEO), []
    progress: Progress | Published = go_to("process", grant, content)
    while isinstance(progress, Progress) and progress.phase == "process":
        assert progress.ready_at is not None
        pauses.append((progress.ready_at - NOON).total_seconds())
        progress = step(grant, content, progress)

    assert pauses == [2, 2, 2]
    assert isinstance(progress, Progress)
    publish(grant, content, progress)
    assert len(server.posts("alice")) == 1


@pytest.mark.parametrize(("asked", "seconds"), [(0, 1), (30, 30), (86_400, 60), (None, 60), ("soon", 60)])
def test_the_pause_between_checks_is_between_a_second_and_a_minute(
    server: FakeX, grant: Grant, asked: object, seconds: int
) -> None:
    info = {"state": "in_progress", "check_after_secs": asked}
    server.refuse_next(STATUS, Answer.of_json({"data": {"id": "5", "processing_info": info}}))
    state = {"media": [], "pending": "5", "segment": 1, "looks": 1}

    progress = step(grant, post("Look", VIDEO), Progress("process", state))

    assert isinstance(progress, Progress)
    assert progress.ready_at == NOON + timedelta(seconds=seconds)


def test_a_video_that_cannot_be_processed_is_rejected(server: FakeX, grant: Grant) -> None:
    server.process_media(checks=1, fail=True)

    with pytest.raises(ContentRejected) as caught:
        publish(grant, post("Look", VIDEO))

    assert caught.value.message == "X could not process file.mp4: Unsupported video format"
    assert server.requests_to(CREATE) == 0


def test_the_number_of_checks_is_limited(server: FakeX, grant: Grant) -> None:
    server.process_media(checks=10_000)
    content = post("Look", VIDEO)
    progress = go_to("process", grant, content)
    late = step(grant, content, Progress("process", {**progress.state, "looks": MAX_CHECKS - 1}))
    assert isinstance(late, Progress)

    with pytest.raises(Transient):
        step(grant, content, late)


@pytest.mark.parametrize("call", [UPLOAD, METADATA])
def test_a_lost_step_of_an_image_is_repeated_but_not_those_before(server: FakeX, grant: Grant, call: str) -> None:
    content = post("Look", media_file(picture(), alt_text="One"), media_file(picture(colour="red"), alt_text="Two"))
    progress = go_to("upload" if call == UPLOAD else "describe", grant, content)
    first = step(grant, content, progress)
    assert isinstance(first, Progress)
    server.drop_next(call)
    with pytest.raises(Transient):
        step(grant, content, first)

    publish(grant, content, first)

    assert [[alt_text for _, _, alt_text in shown] for shown in media_of(server)] == [["One", "Two"]]
    assert server.requests_to(call) == 3


@pytest.mark.parametrize("call", [INITIALIZE, APPEND, FINALIZE, STATUS])
@pytest.mark.parametrize("accepted", [True, False])
def test_a_lost_step_of_a_video_is_repeated(server: FakeX, grant: Grant, tmp_path: Path, call: str, accepted: bool) -> None:
    content = post("Look", big_video(tmp_path, 9))
    phase = {INITIALIZE: "upload", APPEND: "append", FINALIZE: "finalize", STATUS: "process"}[call]
    progress = go_to(phase, grant, content)
    server.drop_next(call, after_accept=accepted)
    with pytest.raises(Transient):
        step(grant, content, progress)

    publish(grant, content, progress)

    with content.media[0].open() as opened:
        assert media_of(server) == [[("tweet_video", opened.read(), None)]]


@pytest.mark.parametrize("call", [UPLOAD, METADATA, INITIALIZE, APPEND, FINALIZE, STATUS])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer.of_json({"errors": [{"message": "no"}], "title": "Invalid Request"}, 400), ContentRejected),
        (Answer.of_json({"title": "Unauthorized"}, 401), TokenExpired),
        (Answer(503), Transient),
    ],
)
def test_a_refused_media_call_is_translated(
    server: FakeX, grant: Grant, call: str, answer: Answer, expected: type[PlatformError]
) -> None:
    file = media_file(picture(), alt_text="One") if call in (UPLOAD, METADATA) else VIDEO
    server.refuse_next(call, answer, times=2)

    with pytest.raises(PlatformError) as caught:
        publish(grant, post("Look", file))

    assert type(caught.value) is expected
    assert server.requests_to(CREATE) == 0


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": []}', b'{"data": {"id": "../1"}}'])
def test_an_upload_without_an_id_is_repeated(server: FakeX, grant: Grant, body: bytes) -> None:
    for call, file in ((UPLOAD, media_file(picture())), (INITIALIZE, VIDEO)):
        server.refuse_next(call, Answer(200, body))
        with pytest.raises(Transient):
            publish(grant, post("Look", file))


def test_a_document_is_rejected(server: FakeX, grant: Grant) -> None:
    with pytest.raises(ContentRejected):
        publish(grant, post("Read", media_file(PDF, "application/pdf")))


def test_media_that_x_has_deleted_are_uploaded_again(server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture(), alt_text="One"), media_file(picture(colour="red")))
    progress = go_to("create", grant, content)
    server.forget_media()

    again = step(grant, content, progress)

    assert isinstance(again, Progress)
    assert again.phase == "upload"
    publish(grant, content, again)
    assert media_of(server) == [[("tweet_image", picture(), "One"), ("tweet_image", picture(colour="red"), None)]]


def test_media_are_uploaded_again_only_once(server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()))
    progress = go_to("create", grant, content)
    server.forget_media()
    again = step(grant, content, progress)
    assert isinstance(again, Progress)
    progress = go_to("create", grant, content, again)
    server.forget_media()

    with pytest.raises(ContentRejected, match="Your media IDs are invalid"):
        step(grant, content, progress)

    assert (server.requests_to(UPLOAD), server.posts("alice")) == (2, [])


def test_media_that_an_earlier_attempt_used_lead_to_its_post(server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()))
    progress = go_to("create", grant, content)
    made = step(grant, content, progress)
    server.forget_media()

    assert step(grant, content, progress) == made
    assert (len(server.posts("alice")), server.requests_to(TIMELINE)) == (1, 1)
