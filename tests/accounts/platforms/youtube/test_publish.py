from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.platforms.errors import ContentRejected, PlatformError, Transient
from accounts.platforms.types import Content, Progress, Published
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.media_files import PDF, media_file, picture
from tests.accounts.platforms.youtube.content import post, video
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


def test_a_small_video_is_uploaded_in_one_piece(server: FakeYouTube, account: Account) -> None:
    content = post("Grüße aus der Werkstatt\nwith #tags and https://example.com 🎬")

    made = account.publish(content)

    [shown] = server.videos("alice")
    assert made == Published(shown["id"], f"https://www.youtube.com/watch?v={shown['id']}")
    assert (shown["title"], shown["description"]) == ("Grüße aus der Werkstatt", content.text)
    assert (shown["content"], shown["categoryId"]) == (bytes_of(content.media[0]), "22")
    assert shown["status"] == {"privacyStatus": "public"}
    assert [server.requests_to(call) for call in (OPEN, PIECE, LAST)] == [1, 0, 1]
    [opened] = [request for request in server.requests if server.call_of(request) == OPEN]
    assert opened.query["notifySubscribers"] == "true"


def test_a_large_video_is_uploaded_in_pieces_several_in_each_step(server: FakeYouTube, account: Account) -> None:
    content, phases = post(file=video(41)), []
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        phases.append((result.phase, server.requests_to(PIECE)))
        assert len(str(result.state)) < 1000
        result = account.step(content, result)

    assert phases == [("start", 0), ("upload", 0), ("upload", 4), ("finish", 5), ("process", 5)]
    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])


def test_options_become_fields_of_the_video(server: FakeYouTube, account: Account) -> None:
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

    account.publish(post("Text", **options))

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
        ("x" * 50, "x" * 50),
        ("", "file"),
    ],
)
def test_the_default_title_is_the_first_line_or_the_file_name(
    server: FakeYouTube, account: Account, text: str, title: str
) -> None:
    account.publish(post(text))

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
def test_invalid_posts_are_rejected_before_anything_is_sent(server: FakeYouTube, account: Account, content: Content) -> None:
    with pytest.raises(ContentRejected):
        account.step(content)

    assert server.requests_to(OPEN) == 0


def test_the_upload_address_is_encrypted_for_its_post(server: FakeYouTube, account: Account) -> None:
    progress = account.step(post())
    assert isinstance(progress, Progress)
    other = Content("tgt_2", "Hello", {}, media=(video(),))

    assert "upload_id" not in str(progress.state)
    again = account.step(other, progress)

    assert again == Progress("start", {"sessions": 1})
    assert server.requests_to(ASK) == 0


def test_processing_is_waited_for(server: FakeYouTube, account: Account) -> None:
    server.process_videos(checks=3)
    content = post()
    progress, pauses = account.go_to("process", content), []
    with time_machine.travel(timezone.now(), tick=False):
        while isinstance(following := account.step(content, progress), Progress):
            assert following.ready_at is not None
            pauses.append((following.ready_at - timezone.now()).total_seconds())
            progress = following

    assert pauses == [20, 40, 80]


@pytest.mark.parametrize(
    "becomes",
    [
        {"uploadStatus": "failed", "failureReason": "codec"},
        {"uploadStatus": "rejected", "rejectionReason": "duplicate"},
        {"uploadStatus": "deleted"},
    ],
)
def test_a_video_that_youtube_does_not_show_is_rejected_with_the_reason(
    server: FakeYouTube, account: Account, becomes: dict[str, str]
) -> None:
    server.process_videos(1, **becomes)

    with pytest.raises(ContentRejected) as caught:
        account.publish(post())

    assert [*becomes.values(), "removed"][1] in caught.value.message


def test_errors_while_a_video_is_processed_do_not_fail_it(server: FakeYouTube, account: Account) -> None:
    content = post()
    server.process_videos(checks=1000)
    server.fail_next(VIDEOS, times=5)
    progress = account.go_to("process", content)
    assert progress.accepted
    server.use_up_quota()
    later = account.step(content, progress)
    assert isinstance(later, Progress)
    server.reset_quota()

    made = account.publish(content, later)

    assert made.external_id == server.videos("alice")[0]["id"]
    assert made.note == "YouTube has not finished processing the video."
    assert server.requests_to(VIDEOS) == 40


def test_a_video_that_stays_private_without_an_audit_gets_a_note(server: FakeYouTube, account: Account) -> None:
    server.withdraw_audit()

    assert "audited" in account.publish(post()).note
    assert account.publish(post(privacy_status="private")).note == ""


@pytest.mark.parametrize("image", [picture(form="JPEG"), picture(), b"\xff\xd8\xff" + bytes(3_000_000)], ids=len)
def test_a_thumbnail_is_set_after_the_upload(server: FakeYouTube, account: Account, site: Site, image: bytes) -> None:
    site.file = Answer(200, image)

    account.publish(post(thumbnail_url=f"{site.url}/a.jpg"))

    assert server.videos("alice")[0]["thumbnail"] == image


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
def test_a_wrong_thumbnail_stops_the_post_before_anything_is_sent(
    server: FakeYouTube, account: Account, site: Site, file: Answer, fault: type[PlatformError]
) -> None:
    site.file = file

    with pytest.raises(fault):
        account.step(post(thumbnail_url=f"{site.url}/a.jpg"))

    assert server.requests_to(OPEN) == 0


@pytest.mark.parametrize("url", ["http://example.com/a.jpg", "https://10.0.0.1/a.jpg", "https://service.internal/a.jpg"])
def test_a_thumbnail_is_fetched_from_public_hosts_only(server: FakeYouTube, account: Account, url: str) -> None:
    with pytest.raises(ContentRejected, match="not fetched from there"):
        account.step(post(thumbnail_url=url))


@pytest.mark.parametrize("lasting", [True, False], ids=["not verified", "away for a while"])
def test_a_video_without_its_thumbnail_stays_published(
    server: FakeYouTube, account: Account, site: Site, lasting: bool
) -> None:
    if lasting:
        server.refuse_thumbnails()
    else:
        server.fail_next(THUMBNAIL, times=2)

    made = account.publish(post(thumbnail_url=f"{site.url}/a.jpg"))

    [shown] = server.videos("alice")
    assert (made.external_id, shown["thumbnail"] is None) == (shown["id"], lasting)
    assert ("no thumbnail" in made.note) is lasting
