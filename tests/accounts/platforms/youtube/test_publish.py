from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, PlatformError, TokenExpired, Transient
from accounts.platforms.types import Content, Grant, Progress, Published
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.media_files import PDF, media_file, picture
from tests.accounts.platforms.youtube.steps import bytes_of, go_to, post, publish, step, video
from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.fakes.youtube import ASK, LAST, OPEN, PIECE, THUMBNAIL, VIDEOS, FakeYouTube
from tests.fakes.youtube_uploads import MAX_THUMBNAIL_BYTES


class Site(LoopbackServer):
    """Somebody's web site with one file."""

    def __init__(self) -> None:
        super().__init__()
        self.file = Answer(200, picture(form="JPEG"))

    def answer(self, request: ReceivedRequest) -> Answer:
        return self.file


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def test_a_small_video_goes_out_in_one_piece(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    content = post("Grüße aus der Werkstatt\nwith #tags and https://example.com 🎬")

    made = publish(youtube, grant, content)

    [shown] = server.videos("alice")
    assert made == Published(shown["id"], f"https://www.youtube.com/watch?v={shown['id']}")
    assert (shown["title"], shown["description"]) == ("Grüße aus der Werkstatt", content.text)
    assert (shown["content"], shown["categoryId"]) == (bytes_of(content.media[0]), "22")
    assert shown["status"] == {"privacyStatus": "public"}
    assert [server.requests_to(call) for call in (OPEN, PIECE, LAST)] == [1, 0, 1]
    [opened] = [request for request in server.requests if server.call_of(request) == OPEN]
    assert opened.query["notifySubscribers"] == "true"


def test_a_large_video_goes_in_pieces_some_a_step_and_arrives_unchanged(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    content, phases = post(file=video(41)), []
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        phases.append((result.phase, server.requests_to(PIECE)))
        assert len(str(result.state)) < 1000
        result = step(youtube, grant, content, result)

    assert phases == [("start", 0), ("upload", 0), ("upload", 4), ("finish", 5), ("process", 5)]
    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])


def test_what_the_options_say_is_told_to_youtube(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    options: dict[str, Any] = {
        "title": "A lathe at work",
        "tags": ["lathe", "wood turning"],
        "privacy_status": "unlisted",
        "category_id": "26",
        "made_for_kids": False,
        "contains_synthetic_media": True,
        "license": "creativeCommon",
        "embeddable": False,
        "language": "en-GB",
        "notify_subscribers": False,
    }

    publish(youtube, grant, post("Text", **options))

    [shown] = server.videos("alice")
    assert (shown["title"], shown["tags"], shown["defaultLanguage"]) == (
        "A lathe at work",
        ["lathe", "wood turning"],
        "en-GB",
    )
    assert shown["status"] == {
        "privacyStatus": "unlisted",
        "selfDeclaredMadeForKids": False,
        "containsSyntheticMedia": True,
        "license": "creativeCommon",
        "embeddable": False,
    }
    assert server.requests[2].query["notifySubscribers"] == "false"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n  \n First line \nSecond", "First line"),
        ("word " * 40, "word " * 19 + "word…"),
        ("😀" * 60, "😀" * 49 + "…"),
        ("", "file"),
    ],
)
def test_a_video_without_a_title_is_called_by_its_text_or_file(
    youtube: YouTube, server: FakeYouTube, grant: Grant, text: str, title: str
) -> None:
    publish(youtube, grant, post(text))

    assert server.videos("alice")[0]["title"] == title


@pytest.mark.parametrize(
    "content",
    [
        Content("tgt_1", "No media"),
        Content("tgt_1", "Two", media=(video(), video())),
        post(file=media_file(picture())),
        post(file=media_file(PDF, "application/pdf")),
        post(tags=["a" * 99] * 5 + ["too much"]),
    ],
    ids=["none", "two", "image", "document", "tags"],
)
def test_what_youtube_would_refuse_is_refused_before_anything_is_sent(
    youtube: YouTube, server: FakeYouTube, grant: Grant, content: Content
) -> None:
    with pytest.raises(ContentRejected):
        step(youtube, grant, content)

    assert server.requests_to(OPEN) == 0


def test_the_address_of_the_upload_stands_sealed_and_opens_for_its_post_alone(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    progress = step(youtube, grant, post())
    assert isinstance(progress, Progress)
    other = Content("tgt_2", "Hello", {}, media=(video(),))

    assert "upload_id" not in str(progress.state)
    again = step(youtube, grant, other, progress)

    assert again == Progress("start", {"sessions": 1})
    assert server.requests_to(ASK) == 0


def test_processing_is_waited_for(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    server.process_videos(looks=3)
    content = post()
    progress: Progress | Published = go_to("process", youtube, grant, content)
    pauses = 0
    while isinstance(progress, Progress):
        assert progress.ready_at is not None
        pauses += 1
        progress = step(youtube, grant, content, progress)

    assert (pauses, server.requests_to(VIDEOS)) == (4, 4)


@pytest.mark.parametrize(
    "becomes",
    [
        {"uploadStatus": "failed", "failureReason": "codec"},
        {"uploadStatus": "rejected", "rejectionReason": "duplicate"},
        {"uploadStatus": "deleted"},
    ],
)
def test_a_video_that_youtube_does_not_show_is_rejected_with_its_reason(
    youtube: YouTube, server: FakeYouTube, grant: Grant, becomes: dict[str, str]
) -> None:
    server.process_videos(1, **becomes)

    with pytest.raises(ContentRejected) as caught:
        publish(youtube, grant, post())

    assert [*becomes.values(), "removed"][1] in caught.value.message


def test_what_cannot_be_looked_at_now_is_looked_at_later_and_is_out_in_the_end(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    content = post()
    server.process_videos(looks=1000)
    server.fail_next(VIDEOS, times=5)
    progress = go_to("process", youtube, grant, content)
    assert progress.state["taken"] is True
    server.use_up_quota()
    later = step(youtube, grant, content, progress)
    assert isinstance(later, Progress)
    server.new_day()

    made = publish(youtube, grant, content, later)

    assert made.external_id == server.videos("alice")[0]["id"]
    assert made.note == "YouTube has not finished processing the video."
    assert server.requests_to(VIDEOS) == 40


def test_access_that_is_taken_away_meanwhile_is_told(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    progress = go_to("process", youtube, grant, post())
    server.withdraw("alice")

    with pytest.raises(TokenExpired):
        step(youtube, grant, post(), progress)


def test_a_video_that_stays_private_for_want_of_an_audit_is_told(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    server.is_not_audited()

    assert "audited" in publish(youtube, grant, post()).note
    assert publish(youtube, grant, post(privacy_status="private")).note == ""


def test_a_thumbnail_is_set_after_the_video_is_there(
    youtube: YouTube, server: FakeYouTube, grant: Grant, site: Site
) -> None:
    publish(youtube, grant, post(thumbnail_url=f"{site.url}/a.jpg"))

    assert server.videos("alice")[0]["thumbnail"] == site.file.body


def test_a_thumbnail_of_several_megabytes_is_set(
    youtube: YouTube, server: FakeYouTube, grant: Grant, site: Site
) -> None:
    site.file = Answer(200, b"\xff\xd8\xff" + bytes(3_000_000))

    publish(youtube, grant, post(thumbnail_url=f"{site.url}/a.jpg"))

    assert server.videos("alice")[0]["thumbnail"] == site.file.body


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (Answer(404, b"Not Found"), ContentRejected),
        (Answer(302, b"", {"Location": "https://example.com/"}), ContentRejected),
        (Answer(200, b"<html>"), ContentRejected),
        (Answer(200, b"\xff\xd8\xff" + bytes(MAX_THUMBNAIL_BYTES)), ContentRejected),
        (Answer(503), Transient),
    ],
)
def test_a_thumbnail_that_is_none_stops_the_post_before_anything_is_out(
    youtube: YouTube, server: FakeYouTube, grant: Grant, site: Site, file: Answer, fault: type[PlatformError]
) -> None:
    site.file = file

    with pytest.raises(fault):
        step(youtube, grant, post(thumbnail_url=f"{site.url}/a.jpg"))

    assert server.requests_to(OPEN) == 0


@pytest.mark.parametrize(
    "url", ["http://example.com/a.jpg", "https://10.0.0.1/a.jpg", "https://service.internal/a.jpg"]
)
def test_a_thumbnail_is_fetched_from_public_places_only(
    youtube: YouTube, server: FakeYouTube, grant: Grant, url: str
) -> None:
    with pytest.raises(ContentRejected, match="not fetched from there"):
        step(youtube, grant, post(thumbnail_url=url))


@pytest.mark.parametrize("lasting", [True, False], ids=["not verified", "away for a while"])
def test_a_thumbnail_that_youtube_does_not_take_leaves_the_video_out(
    youtube: YouTube, server: FakeYouTube, grant: Grant, site: Site, lasting: bool
) -> None:
    if lasting:
        server.refuse_thumbnails()
    else:
        server.fail_next(THUMBNAIL, times=2)

    made = publish(youtube, grant, post(thumbnail_url=f"{site.url}/a.jpg"))

    [shown] = server.videos("alice")
    assert (made.external_id, shown["thumbnail"] is None) == (shown["id"], lasting)
    assert ("no thumbnail" in made.note) is lasting
