from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, ContentRejected, OutcomeUnknown
from accounts.platforms.text_check import text_limit
from accounts.platforms.tiktok.capabilities import CAPABILITIES
from accounts.platforms.tiktok.status import MAX_CHECKS
from accounts.platforms.types import Content, Progress, Published
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.media_files import PDF, media_file
from tests.accounts.platforms.tiktok.content import photo, post, video
from tests.accounts.platforms.tiktok.world import PREFIX
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CHUNK, CREATOR, LAST, PHOTOS, STATUS, VIDEO, FakeTikTok

BAD_ANSWER = Answer(200, b"<html>")


def test_a_small_video_is_uploaded_in_one_chunk(server: FakeTikTok, account: Account) -> None:
    content = post("Grüße 🎬 #lathe @bob")

    made = account.publish(content)

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
        (29, [10, 19]),  # the last one includes the rest
        (65, [10, 10, 10, 10, 10, 15]),
    ],
)
def test_a_large_video_is_uploaded_in_chunks(server: FakeTikTok, account: Account, megabytes: int, sizes: list[int]) -> None:
    content = post("Look", video(megabytes))

    account.publish(content)

    [shown] = server.posts("alice")
    assert shown["content"] == bytes_of(content.media[0])
    sent = [len(each.body) // 1_000_000 for each in server.requests if server.call_of(each) in (CHUNK, LAST)]
    assert sent == sizes


def test_the_chunks_of_a_step_are_bounded(server: FakeTikTok, account: Account) -> None:
    content, phases = post("Look", video(60)), []
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        phases.append((result.phase, server.requests_to(CHUNK)))
        assert "upload_token" not in str(result.state)
        assert len(str(result.state)) < 1000
        result = account.step(content, result)

    assert phases == [("start", 0), ("upload", 0), ("upload", 4), ("finish", 5), ("poll", 5)]


def test_options_become_fields_of_the_post(server: FakeTikTok, account: Account) -> None:
    account.publish(
        post(
            privacy_level="MUTUAL_FOLLOW_FRIENDS",
            disable_comment=True,
            disable_duet=True,
            disable_stitch=False,
            cover_timestamp_ms=1500,
            is_aigc=True,
            brand_content_toggle=True,
            brand_organic_toggle=False,
        )
    )

    [shown] = server.posts("alice")
    fields = {name: value for name, value in shown.items() if name not in ("id", "publish_id", "content", "urls")}
    assert fields == {
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


def test_what_the_creators_settings_forbid_stays_forbidden(server: FakeTikTok, account: Account) -> None:
    server.add_creator("alice", disabled={"comment", "duet", "stitch"})

    account.publish(post(disable_comment=False))
    account.publish(post("Photos", photo("a")))

    of_video, of_photo = server.posts("alice")
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
def test_what_the_creator_may_not_post_is_rejected_before_it_is_announced(
    server: FakeTikTok, account: Account, creator: dict[str, Any], content: Content, words: str
) -> None:
    server.add_creator("alice", **creator)

    with pytest.raises(ContentRejected, match=words):
        account.step(content)

    assert server.requests_to(VIDEO) == 0


@pytest.mark.parametrize(
    "media", [(), (video(), video()), (video(), photo("a")), (media_file(PDF, "application/pdf"),)], ids=len
)
def test_only_a_video_or_photos_are_posts(server: FakeTikTok, account: Account, media: Any) -> None:
    with pytest.raises(ContentRejected):
        account.step(Content("tgt_1", "Hello", {"privacy_level": "SELF_ONLY"}, media=media))


def test_the_text_of_photos_may_be_longer_than_a_videos(server: FakeTikTok, account: Account) -> None:
    rules = CAPABILITIES.text
    assert text_limit(rules, {}, ["video"]) == 2200
    assert text_limit(rules, {}, ["image", "image"]) == 4000

    account.publish(post("😀" * 2000, photo("a")))
    with pytest.raises(ContentRejected):
        account.publish(post("😀" * 2000 + "a", photo("a")))
    with pytest.raises(ContentRejected):
        account.publish(post("a" * 2201))

    assert [shown["description"] for shown in server.posts("alice")] == ["😀" * 2000]


def test_photos_are_fetched_from_their_urls(server: FakeTikTok, account: Account) -> None:
    server.process_posts(2)
    content = post("Photos of a lathe", photo("a"), photo("b"), title="A lathe", auto_add_music=True, photo_cover_index=1)

    made = account.publish(content)

    [shown] = server.posts("alice")
    assert made.permalink == f"https://www.tiktok.com/@alice/photo/{shown['id']}"
    assert shown["urls"] == [f"{PREFIX}a.jpg?form=direct", f"{PREFIX}b.jpg?form=direct"]
    assert (shown["title"], shown["description"], shown["auto_add_music"]) == ("A lathe", "Photos of a lathe", True)
    [announced] = [request for request in server.requests if server.call_of(request) == PHOTOS]
    assert announced.json()["source_info"]["photo_cover_index"] == 1


@pytest.mark.parametrize("prefix", ["", "https://elsewhere.example/"])
def test_photos_need_a_prefix_that_the_operator_has_verified(
    server: FakeTikTok, account: Account, settings: Settings, prefix: str
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TIKTOK_VERIFIED_PREFIX": prefix}

    with pytest.raises(ConnectionUnavailable) as caught:
        account.step(post("Photos", photo("a")))

    assert "TIKTOK_VERIFIED_PREFIX" in caught.value.suggested_action
    account.publish(post())  # a video needs no address


def test_a_prefix_that_tiktok_has_not_verified_is_an_error_of_the_operator(server: FakeTikTok, account: Account) -> None:
    server.verify("https://elsewhere.example/")

    with pytest.raises(ConnectionUnavailable, match="not verified"):
        account.publish(post("Photos", photo("a")))


def test_the_post_is_waited_for_and_then_its_id(server: FakeTikTok, account: Account) -> None:
    server.process_posts(3, checks_for_id=2)
    progress: Progress | Published = account.go_to("poll", post())
    states = []
    while isinstance(progress, Progress):
        assert progress.ready_at is not None
        states.append((progress.accepted, progress.published is not None))
        progress = account.step(post(), progress)

    assert states == [(True, False)] * 4 + [(True, True)] * 2
    assert progress.permalink.endswith(f"/video/{progress.external_id}")
    assert progress.note == ""


def test_a_post_without_an_id_is_published_with_a_note(server: FakeTikTok, account: Account) -> None:
    server.process_posts(checks_for_id=1000)

    made = account.publish(post())

    [shown] = server.posts("alice")
    assert (made.external_id, made.permalink) == (shown["publish_id"], "https://www.tiktok.com/@alice")
    assert "has not named" in made.note


def test_a_post_that_is_not_public_has_no_permalink(server: FakeTikTok, account: Account) -> None:
    made = account.publish(post(privacy_level="SELF_ONLY"))

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
def test_a_failed_post_is_rejected_with_the_reason(
    server: FakeTikTok, account: Account, caplog: pytest.LogCaptureFixture, reason: str, words: str
) -> None:
    server.process_posts(1, fail_reason=reason)

    with pytest.raises(ContentRejected, match=words):
        account.publish(post())

    assert ("something_new" in caplog.text) is (reason == "something_new")


@pytest.mark.parametrize("content", [post(), post("Photos", photo("a"))], ids=["video", "photo"])
@pytest.mark.parametrize("reason", ["internal", "photo_pull_failed", "auth_removed"])
def test_a_transient_failure_is_announced_again_twice(
    server: FakeTikTok, account: Account, content: Content, reason: str
) -> None:
    server.process_posts(1, fail_reason=reason)
    progress = account.go_to("start", content, account.go_to("poll", content))
    assert progress.ready_at is not None
    assert not progress.accepted

    with pytest.raises(ContentRejected, match=reason):
        account.publish(content, progress)
    assert server.requests_to(VIDEO) + server.requests_to(PHOTOS) == 3
    server.process_posts()
    account.publish(content, progress)
    assert len(server.posts("alice")) == 1


@pytest.mark.parametrize("answer", [Answer(503), Answer(429), BAD_ANSWER, Answer(400, b'{"error": {"code": "odd"}}')])
def test_errors_while_a_post_is_processed_do_not_fail_it(server: FakeTikTok, account: Account, answer: Answer) -> None:
    progress = account.go_to("poll", post())
    server.refuse_next(STATUS, answer, times=3)

    assert len(account.publish(post(), progress).external_id) == 19
    assert len(server.posts("alice")) == 1


def test_an_endless_status_leaves_the_outcome_unknown(server: FakeTikTok, account: Account) -> None:
    server.process_posts(1000)

    with pytest.raises(OutcomeUnknown) as caught:
        account.publish(post())

    assert caught.value.final
    assert server.requests_to(STATUS) == MAX_CHECKS + 1


@pytest.mark.parametrize(("status", "final"), [("SEND_TO_USER_INBOX", True), ("A_NEW_ONE", False)])
def test_an_inbox_status_is_final_and_an_undocumented_status_is_reported(
    server: FakeTikTok, account: Account, caplog: pytest.LogCaptureFixture, status: str, final: bool
) -> None:
    progress = account.go_to("poll", post())
    server.refuse_next(STATUS, Answer.of_json({"data": {"status": status}, "error": {"code": "ok"}}))

    if final:
        with pytest.raises(OutcomeUnknown, match="inbox"):
            account.step(post(), progress)
    else:
        assert isinstance(account.step(post(), progress), Progress)
        assert status in caplog.text
