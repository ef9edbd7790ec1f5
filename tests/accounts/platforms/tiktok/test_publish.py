from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    TokenExpired,
)
from accounts.platforms.text_check import text_limit
from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.tiktok.capabilities import CAPABILITIES
from accounts.platforms.tiktok.status import MAX_CHECKS
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.media_files import PDF, media_file
from tests.accounts.platforms.tiktok.steps import PREFIX, bytes_of, connect, go_to, photo, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CHUNK, CREATOR, LAST, PHOTOS, STATUS, VIDEO, FakeTikTok

BAD_ANSWER = Answer(200, b"<html>")


def test_a_small_video_goes_out_in_one_chunk(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    content = post("Grüße 🎬 #lathe @bob")

    made = publish(tiktok, grant, content)

    [shown] = server.posts("alice")
    assert made == Published(shown["id"], f"https://www.tiktok.com/@alice/video/{shown['id']}")
    assert (shown["title"], shown["privacy_level"]) == (content.text, "PUBLIC_TO_EVERYONE")
    assert shown["content"] == bytes_of(content.media[0])
    assert [server.requests_to(call) for call in (CREATOR, VIDEO, CHUNK, LAST)] == [2, 1, 0, 1]  # one of connecting


@pytest.mark.parametrize(
    ("megabytes", "sizes"),
    [
        (19, [19]),  # as one
        (20, [10, 10]),
        (29, [10, 19]),  # the last takes what is left over
        (65, [10, 10, 10, 10, 10, 15]),
    ],
)
def test_a_large_video_goes_in_chunks_and_arrives_unchanged(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, megabytes: int, sizes: list[int]
) -> None:
    content = post("Look", video(megabytes))

    publish(tiktok, grant, content)

    [shown] = server.posts("alice")
    assert shown["content"] == bytes_of(content.media[0])
    sent = [len(each.body) // 1_000_000 for each in server.requests if server.call_of(each) in (CHUNK, LAST)]
    assert sent == sizes


def test_the_chunks_of_a_step_are_bounded(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    content, phases = post("Look", video(60)), []
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        phases.append((result.phase, server.requests_to(CHUNK)))
        assert "upload_token" not in str(result.state)
        assert len(str(result.state)) < 1000
        result = step(tiktok, grant, content, result)

    assert phases == [("start", 0), ("upload", 0), ("upload", 4), ("finish", 5), ("poll", 5)]


def test_what_the_options_say_is_told_to_tiktok(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    publish(
        tiktok,
        grant,
        post(
            privacy_level="MUTUAL_FOLLOW_FRIENDS",
            disable_comment=True,
            disable_duet=True,
            disable_stitch=False,
            cover_timestamp_ms=1500,
            is_aigc=True,
            brand_content_toggle=True,
            brand_organic_toggle=False,
        ),
    )

    [shown] = server.posts("alice")
    told = {name: value for name, value in shown.items() if name not in ("id", "publish_id", "content", "urls")}
    assert told == {
        "title": "Hello",
        "privacy_level": "MUTUAL_FOLLOW_FRIENDS",
        "disable_comment": True,
        "disable_duet": True,
        "disable_stitch": False,
        "video_cover_timestamp_ms": 1500,
        "is_aigc": True,
        "brand_content_toggle": True,
        "brand_organic_toggle": False,
    }


def test_what_the_creators_settings_forbid_stays_forbidden(tiktok: TikTok, server: FakeTikTok) -> None:
    server.add_creator("bob", disabled={"comment", "duet", "stitch"})
    grant = connect(tiktok, server, "bob").grant

    publish(tiktok, grant, post(disable_comment=False))
    publish(tiktok, grant, post("Photos", photo("a")))

    of_video, of_photo = server.posts("bob")
    assert [of_video[f"disable_{what}"] for what in ("comment", "duet", "stitch")] == [True] * 3
    assert of_photo["disable_comment"] is True


@pytest.mark.parametrize(
    ("creator", "content", "words"),
    [
        ({"private": True}, post(), "FOLLOWER_OF_CREATOR or MUTUAL_FOLLOW_FRIENDS or SELF_ONLY"),
        ({}, post(privacy_level="FOLLOWER_OF_CREATOR"), "cannot post FOLLOWER_OF_CREATOR now"),
        ({"longest_seconds": 60}, post("Long", video(duration_ms=60_001)), "60.001 seconds; the creator may post 60"),
    ],
)
def test_what_the_creator_may_not_post_is_refused_before_it_is_announced(
    tiktok: TikTok, server: FakeTikTok, creator: dict[str, Any], content: Content, words: str
) -> None:
    server.add_creator("bob", **creator)
    grant = connect(tiktok, server, "bob").grant

    with pytest.raises(ContentRejected, match=words):
        step(tiktok, grant, content)

    assert server.requests_to(VIDEO) == 0


@pytest.mark.parametrize(
    "media", [(), (video(), video()), (video(), photo("a")), (media_file(PDF, "application/pdf"),)], ids=len
)
def test_only_a_video_or_photos_are_posts(tiktok: TikTok, server: FakeTikTok, grant: Grant, media: Any) -> None:
    with pytest.raises(ContentRejected):
        step(tiktok, grant, Content("tgt_1", "Hello", {"privacy_level": "SELF_ONLY"}, media=media))


def test_the_text_of_photos_may_be_longer_than_a_videos(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    rules = CAPABILITIES.text
    assert text_limit(rules, {}, ["video"]) == 2200
    assert text_limit(rules, {}, ["image", "image"]) == 4000

    publish(tiktok, grant, post("😀" * 2000, photo("a")))
    with pytest.raises(ContentRejected):
        publish(tiktok, grant, post("😀" * 2000 + "a", photo("a")))
    with pytest.raises(ContentRejected):
        publish(tiktok, grant, post("a" * 2201))

    assert [shown["description"] for shown in server.posts("alice")] == ["😀" * 2000]


def test_photos_go_by_their_addresses(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    server.process_posts(2)
    content = post(
        "Photos of a lathe", photo("a"), photo("b"), title="A lathe", auto_add_music=True, photo_cover_index=1
    )

    made = publish(tiktok, grant, content)

    [shown] = server.posts("alice")
    assert made.permalink == f"https://www.tiktok.com/@alice/photo/{shown['id']}"
    assert shown["urls"] == [f"{PREFIX}a.jpg?form=direct", f"{PREFIX}b.jpg?form=direct"]
    assert (shown["title"], shown["description"], shown["auto_add_music"]) == ("A lathe", "Photos of a lathe", True)
    [announced] = [request for request in server.requests if server.call_of(request) == PHOTOS]
    assert announced.json()["source_info"]["photo_cover_index"] == 1


@pytest.mark.parametrize("prefix", ["", "https://elsewhere.example/"])
def test_photos_that_tiktok_would_not_fetch_are_the_operators_to_put_right(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, settings: Settings, prefix: str
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TIKTOK_VERIFIED_PREFIX": prefix}

    with pytest.raises(ConnectionUnavailable) as caught:
        step(tiktok, grant, post("Photos", photo("a")))

    assert "TIKTOK_VERIFIED_PREFIX" in caught.value.suggested_action
    publish(tiktok, grant, post())  # a video needs no address


def test_a_prefix_that_is_set_and_not_verified_is_told_as_well(
    tiktok: TikTok, server: FakeTikTok, grant: Grant
) -> None:
    server.verify("https://elsewhere.example/")

    with pytest.raises(ConnectionUnavailable, match="not verified"):
        publish(tiktok, grant, post("Photos", photo("a")))


def test_the_end_is_waited_for_and_then_the_id(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    server.process_posts(3, looks_for_id=2)
    progress: Progress | Published = go_to("poll", tiktok, grant, post())
    stands = []
    while isinstance(progress, Progress):
        assert progress.ready_at is not None
        stands.append(("taken" in progress.state, "out" in progress.state))
        progress = step(tiktok, grant, post(), progress)

    assert stands == [(True, False)] * 4 + [(True, True)] * 2
    assert progress.permalink.endswith(f"/video/{progress.external_id}")
    assert progress.note == ""


def test_a_post_whose_id_is_not_told_is_out_all_the_same(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    server.process_posts(looks_for_id=1000)

    made = publish(tiktok, grant, post())

    [shown] = server.posts("alice")
    assert (made.external_id, made.permalink) == (shown["publish_id"], "https://www.tiktok.com/@alice")
    assert "has not named" in made.note


def test_a_post_that_not_everybody_sees_has_no_address(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    made = publish(tiktok, grant, post(privacy_level="SELF_ONLY"))

    assert (made.permalink, made.note, server.requests_to(STATUS)) == ("https://www.tiktok.com/@alice", "", 1)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("duration_check_failed", "the video's length"),
        ("spam_risk_too_many_posts", "in a day"),
        ("spam_risk_user_banned_from_posting", "does not let the creator post"),
        ("something_new", "something_new"),
    ],
)
def test_a_post_that_failed_is_rejected_with_its_reason(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, caplog: pytest.LogCaptureFixture, reason: str, words: str
) -> None:
    server.process_posts(1, fail_reason=reason)

    with pytest.raises(ContentRejected, match=words):
        publish(tiktok, grant, post())

    assert ("something_new" in caplog.text) is (reason == "something_new")


@pytest.mark.parametrize("content", [post(), post("Photos", photo("a"))], ids=["video", "photo"])
@pytest.mark.parametrize("reason", ["internal", "photo_pull_failed"])
def test_a_fault_of_tiktoks_own_is_tried_anew_a_few_times(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, content: Content, reason: str
) -> None:
    server.process_posts(1, fail_reason=reason)
    progress: Progress | Published = go_to("poll", tiktok, grant, content)
    while isinstance(progress, Progress) and progress.phase == "poll":
        progress = step(tiktok, grant, content, progress)
    assert isinstance(progress, Progress)
    assert (progress.phase, progress.ready_at is not None, "taken" in progress.state) == ("start", True, False)

    with pytest.raises(ContentRejected, match=reason):
        publish(tiktok, grant, content, progress)
    assert server.requests_to(VIDEO) + server.requests_to(PHOTOS) == 3
    server.process_posts()
    publish(tiktok, grant, content, progress)
    assert len(server.posts("alice")) == 1


def test_access_that_was_taken_away_fails_where_tiktok_says_so(
    tiktok: TikTok, server: FakeTikTok, grant: Grant
) -> None:
    server.process_posts(1, fail_reason="auth_removed")
    progress: Progress | Published = go_to("poll", tiktok, grant, post())
    while isinstance(progress, Progress) and progress.phase == "poll":
        progress = step(tiktok, grant, post(), progress)
    server.withdraw("alice")

    assert isinstance(progress, Progress)
    with pytest.raises(TokenExpired):
        step(tiktok, grant, post(), progress)
    with pytest.raises(AccountDisconnected):
        tiktok.refresh(grant)


@pytest.mark.parametrize("answer", [Answer(503), Answer(429), BAD_ANSWER, Answer(400, b'{"error": {"code": "odd"}}')])
def test_what_cannot_be_looked_at_now_is_looked_at_later(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, answer: Answer
) -> None:
    progress = go_to("poll", tiktok, grant, post())
    server.refuse_next(STATUS, answer, times=3)

    assert len(publish(tiktok, grant, post(), progress).external_id) == 19
    assert len(server.posts("alice")) == 1


def test_an_end_that_does_not_come_is_told(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    server.process_posts(1000)

    with pytest.raises(OutcomeUnknown) as caught:
        publish(tiktok, grant, post())

    assert caught.value.final
    assert server.requests_to(STATUS) == MAX_CHECKS + 1


@pytest.mark.parametrize(("status", "final"), [("SEND_TO_USER_INBOX", True), ("A_NEW_ONE", False)])
def test_a_status_that_is_no_end_of_a_post(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, caplog: pytest.LogCaptureFixture, status: str, final: bool
) -> None:
    progress = go_to("poll", tiktok, grant, post())
    server.refuse_next(STATUS, Answer.of_json({"data": {"status": status}, "error": {"code": "ok"}}))

    if final:
        with pytest.raises(OutcomeUnknown, match="inbox"):
            step(tiktok, grant, post(), progress)
    else:
        assert isinstance(step(tiktok, grant, post(), progress), Progress)
        assert status in caplog.text
