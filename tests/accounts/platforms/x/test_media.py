from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Grant, MediaFile, Progress, Published
from accounts.platforms.x.adapter import X
from accounts.platforms.x.media import MAX_CHECKS
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.accounts.platforms.x.scripted_server import ScriptedServer
from tests.accounts.platforms.x.steps import go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import APPEND, CREATE, FINALIZE, INITIALIZE, METADATA, STATUS, TIMELINE, UPLOAD

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
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


def test_images_are_uploaded_one_a_step_described_and_shown_in_their_order(x: X, server: FakeX, grant: Grant) -> None:
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
        progress = step(x, grant, content, progress)

    assert phases == ["start", "upload", "upload", "upload", "describe", "describe", "create"]
    [shown] = media_of(server)
    assert shown == [
        ("tweet_image", first, "A flower"),
        ("tweet_image", second, None),
        ("tweet_image", third, "Ein Stück Käse 🧀"),
    ]


def test_a_gif_moves_only_when_it_is_uploaded_as_one(x: X, server: FakeX, grant: Grant) -> None:
    publish(x, grant, post("Still", media_file(GIF, "image/gif", kind="image", alt_text="A dot")))
    publish(x, grant, post("Moving", gif("A dancing dot")))

    assert media_of(server) == [[("tweet_image", GIF, "A dot")], [("tweet_gif", GIF, "A dancing dot")]]


def test_a_video_is_sent_in_segments_some_of_them_a_step(x: X, server: FakeX, grant: Grant, tmp_path: Path) -> None:
    content = post("Look", big_video(tmp_path, 33))
    sent = []
    progress = go_to("append", x, grant, content)
    while progress.phase == "append":
        following = step(x, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
        sent.append(server.requests_to(APPEND))

    assert (sent, progress.phase) == ([8, 9], "finalize")
    assert b"the end" not in str(progress.state).encode()
    publish(x, grant, content, progress)
    with content.media[0].open() as opened:
        assert media_of(server) == [[("tweet_video", opened.read(), None)]]


def test_x_takes_no_alt_text_for_a_video(x: X, server: FakeX, grant: Grant) -> None:
    publish(x, grant, post("Look", media_file(MP4, "video/mp4", alt_text="A dance")))

    assert (media_of(server), server.requests_to(METADATA)) == ([[("tweet_video", MP4, None)]], 0)


def test_processing_is_waited_for_as_long_as_x_says(x: X, server: FakeX, grant: Grant) -> None:
    server.process_media(looks=3)
    content, pauses = post("Look", VIDEO), []
    with time_machine.travel(NOW, tick=False):
        progress: Progress | Published = go_to("process", x, grant, content)
        while isinstance(progress, Progress) and progress.phase == "process":
            assert progress.ready_at is not None
            pauses.append((progress.ready_at - NOW).total_seconds())
            progress = step(x, grant, content, progress)

    assert pauses == [2, 2, 2]
    assert isinstance(progress, Progress)
    publish(x, grant, content, progress)
    assert len(server.posts("alice")) == 1


@pytest.mark.parametrize(("told", "seconds"), [(0, 1), (30, 30), (86_400, 60), (None, 60), ("soon", 60)])
def test_the_pause_that_x_asks_for_has_bounds(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, told: object, seconds: int
) -> None:
    info = {"state": "in_progress", "check_after_secs": told}
    scripted.answers[STATUS] = Answer.of_json({"data": {"id": "5", "processing_info": info}})
    state = {
        "since": NOW.isoformat(),
        "media": [],
        "described": 0,
        "sent": [],
        "pending": "5",
        "segment": 1,
        "looks": 1,
    }

    with time_machine.travel(NOW, tick=False):
        progress = step(x, scripted_grant, post("Look", VIDEO), Progress("process", state))

    assert isinstance(progress, Progress)
    assert progress.ready_at == NOW + timedelta(seconds=seconds)


def test_a_video_that_cannot_be_processed_is_rejected(x: X, server: FakeX, grant: Grant) -> None:
    server.process_media(looks=1, fail=True)

    with pytest.raises(ContentRejected) as caught:
        publish(x, grant, post("Look", VIDEO))

    assert caught.value.message == "X could not process file.mp4: Unsupported video format"
    assert server.requests_to(CREATE) == 0


def test_processing_is_not_waited_for_without_end(x: X, server: FakeX, grant: Grant) -> None:
    server.process_media(looks=10_000)
    content = post("Look", VIDEO)
    progress = go_to("process", x, grant, content)
    late = step(x, grant, content, Progress("process", {**progress.state, "looks": MAX_CHECKS - 1}))
    assert isinstance(late, Progress)

    with pytest.raises(Transient):
        step(x, grant, content, late)


@pytest.mark.parametrize("call", [UPLOAD, METADATA])
def test_a_step_of_an_image_that_was_lost_is_repeated_and_those_before_are_not(
    x: X, server: FakeX, grant: Grant, call: str
) -> None:
    content = post("Look", media_file(picture(), alt_text="One"), media_file(picture(colour="red"), alt_text="Two"))
    progress = go_to("upload" if call == UPLOAD else "describe", x, grant, content)
    first = step(x, grant, content, progress)
    assert isinstance(first, Progress)
    server.drop_next(call)
    with pytest.raises(Transient):
        step(x, grant, content, first)

    publish(x, grant, content, first)

    assert [[alt_text for _, _, alt_text in shown] for shown in media_of(server)] == [["One", "Two"]]
    assert server.requests_to(call) == 3


@pytest.mark.parametrize("call", [INITIALIZE, APPEND, FINALIZE, STATUS])
@pytest.mark.parametrize("taken", [True, False])
def test_a_step_of_a_video_that_was_lost_is_repeated(
    x: X, server: FakeX, grant: Grant, tmp_path: Path, call: str, taken: bool
) -> None:
    content = post("Look", big_video(tmp_path, 9))
    phase = {INITIALIZE: "upload", APPEND: "append", FINALIZE: "finalize", STATUS: "process"}[call]
    progress = go_to(phase, x, grant, content)
    server.drop_next(call, after_accept=taken)
    with pytest.raises(Transient):
        step(x, grant, content, progress)

    publish(x, grant, content, progress)

    with content.media[0].open() as opened:
        assert media_of(server) == [[("tweet_video", opened.read(), None)]]


@pytest.mark.parametrize("call", [UPLOAD, METADATA, INITIALIZE, APPEND, FINALIZE, STATUS])
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"errors": [{"message": "no"}], "title": "Invalid Request"}, 400), ContentRejected),
        (Answer.of_json({"detail": "no"}, 403), ContentRejected),
        (Answer(413, b"<html>Too large</html>"), ContentRejected),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer.of_json({"title": "Unauthorized"}, 401), TokenExpired),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
    ],
)
def test_a_call_that_is_refused_is_told_by_what_helps(
    x: X, server: FakeX, grant: Grant, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    file = media_file(picture(), alt_text="One") if call in (UPLOAD, METADATA) else VIDEO
    server.refuse_next(call, answer, times=2)

    with pytest.raises(PlatformError) as caught:
        publish(x, grant, post("Look", file))

    assert type(caught.value) is fault
    assert server.requests_to(CREATE) == 0


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": []}', b'{"data": {"id": "../1"}}'])
def test_an_upload_whose_answer_names_nothing_is_repeated(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, body: bytes
) -> None:
    scripted.answers |= {UPLOAD: Answer(200, body), INITIALIZE: Answer(200, body)}

    for file in (media_file(picture()), VIDEO):
        with pytest.raises(Transient):
            publish(x, scripted_grant, post("Look", file))


def test_a_document_is_no_media_of_x(x: X, server: FakeX, grant: Grant) -> None:
    with pytest.raises(ContentRejected):
        publish(x, grant, post("Read", media_file(PDF, "application/pdf")))


def test_media_that_x_has_forgotten_are_uploaded_once_more(x: X, server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture(), alt_text="One"), media_file(picture(colour="red")))
    progress = go_to("create", x, grant, content)
    server.forget_media()

    again = step(x, grant, content, progress)

    assert isinstance(again, Progress)
    assert again.phase == "upload"
    publish(x, grant, content, again)
    assert media_of(server) == [[("tweet_image", picture(), "One"), ("tweet_image", picture(colour="red"), None)]]


def test_media_that_x_does_not_take_in_a_post_are_not_uploaded_without_end(x: X, server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()))
    progress = go_to("create", x, grant, content)
    server.forget_media()
    again = step(x, grant, content, progress)
    assert isinstance(again, Progress)
    progress = go_to("create", x, grant, content, again)
    server.forget_media()

    with pytest.raises(ContentRejected, match="Your media IDs are invalid"):
        step(x, grant, content, progress)

    assert (server.requests_to(UPLOAD), server.posts("alice")) == (2, [])


def test_media_that_an_earlier_try_used_are_those_of_its_post(x: X, server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()))
    progress = go_to("create", x, grant, content)
    made = step(x, grant, content, progress)
    server.forget_media()

    assert step(x, grant, content, progress) == made
    assert (len(server.posts("alice")), server.requests_to(TIMELINE)) == (1, 1)
