"""Finding the Facebook post that an earlier attempt has published, also after workers have died at any step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Content, Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.meta.steps import find_post, go_to, post, step
from tests.fakes.facebook import FINISH_REEL, POSTS, FakeFacebook

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PHOTO = media_file(picture(), alt_text="A photo")
VIDEO = media_file(MP4 * 2, "video/mp4", duration_ms=10_000)
CONTENTS = {
    "text": post("Fish & chips < 5\n\n#food "),
    "link": post("", link="https://example.com/"),
    "photo": post("Look", PHOTO),
    "photos": post("", PHOTO, media_file(picture(colour="red"))),
    "video": post("Look", VIDEO, title="Bread"),
    "reel": post("Look", VIDEO, post_type="reel"),
    "photo story": post("", PHOTO, post_type="story"),
    "video story": post("", VIDEO, post_type="story"),
    "commented text": post("Hello", first_comment="More"),
    "commented reel": post("Look", VIDEO, post_type="reel", first_comment="More"),
}
every_content = pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)


@every_content
def test_a_post_is_published_once_although_workers_die_after_every_step(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, content: Content
) -> None:
    server.process_videos(checks=2)
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        step(facebook, grant, content, result)  # its worker dies before the result is stored
        if result.phase in facebook.irreversible:
            found = find_post(facebook, grant, content, result)
            assert not isinstance(found, NotPublishedProof)
            result = found
        else:
            result = step(facebook, grant, content, result)

    made = [*server.posts(page_id), *server.videos(page_id)]
    assert len(made) + len(server.stories_of(page_id)) == 1
    if content.options.get("post_type") != "story":
        assert (made[0]["id"], result.permalink != "") == (result.external_id, True)
        assert made[0]["comments"] == [text for name, text in content.options.items() if name == "first_comment"]


@every_content
def test_a_post_that_was_not_published_is_absent(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, content: Content
) -> None:
    server.post(page_id, "Something else")
    searched_step = "comment" if "first_comment" in content.options else "create"
    progress = go_to(searched_step, facebook, grant, content)

    assert isinstance(find_post(facebook, grant, content, progress), NotPublishedProof)


def test_a_post_is_recognized_by_its_photos_not_by_its_text(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    mine, other = post("Look", PHOTO), post("Look", media_file(picture(colour="red")))
    progress = go_to("create", facebook, grant, mine)
    step(facebook, grant, other, go_to("create", facebook, grant, other))

    with pytest.raises(OutcomeUnknown):
        find_post(facebook, grant, mine, progress)
    step(facebook, grant, mine, progress)
    found = find_post(facebook, grant, mine, progress)

    assert isinstance(found, Published)
    assert found.external_id == server.posts(page_id)[1]["id"]


def test_a_text_is_not_confused_with_a_photo_of_the_same_text_or_an_older_post(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        server.post(page_id, "Look")
        clock.shift(timedelta(hours=1))
        illustrated = post("Look", PHOTO)
        step(facebook, grant, illustrated, go_to("create", facebook, grant, illustrated))
        progress = go_to("create", facebook, grant, post("Look"))

        assert isinstance(find_post(facebook, grant, post("Look"), progress), NotPublishedProof)


@pytest.mark.parametrize("text", ["Read this", ""])
def test_a_link_post_is_recognized_by_its_link_not_by_its_text(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, text: str
) -> None:
    mine, other = post(text, link="https://example.com/1"), post(text, link="https://example.com/2")
    progress = go_to("create", facebook, grant, mine)
    step(facebook, grant, other, go_to("create", facebook, grant, other))

    with pytest.raises(OutcomeUnknown):
        find_post(facebook, grant, mine, progress)
    made = step(facebook, grant, mine, progress)
    assert find_post(facebook, grant, mine, progress) == made


def test_an_edited_post_leaves_the_outcome_unknown(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    progress = go_to("create", facebook, grant, post("Hello"))
    made = step(facebook, grant, post("Hello"), progress)
    assert isinstance(made, Published)
    server.edit(made.external_id, "Hello again")

    with pytest.raises(OutcomeUnknown) as caught:
        find_post(facebook, grant, post("Hello"), progress)

    assert caught.value.final


def test_an_unreadable_list_leaves_the_outcome_unknown(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    progress = go_to("create", facebook, grant, post())
    server.refuse_reading()

    with pytest.raises(OutcomeUnknown, match="does not let this service read") as caught:
        find_post(facebook, grant, post(), progress)

    assert caught.value.final


def test_more_posts_than_are_read_leave_the_outcome_unknown(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    progress = go_to("create", facebook, grant, post())
    for number in range(150):
        server.post(page_id, f"Post {number}")
    assert isinstance(find_post(facebook, grant, post(), progress), NotPublishedProof)

    for number in range(200):
        server.post(page_id, f"Further {number}")
    with pytest.raises(OutcomeUnknown) as caught:
        find_post(facebook, grant, post(), progress)
    assert caught.value.final


def test_a_search_that_fails_is_repeated_later(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    progress = go_to("create", facebook, grant, post())
    server.fail_next(POSTS, 503)

    with pytest.raises(Transient):
        find_post(facebook, grant, post(), progress)


def test_a_video_that_is_being_processed_is_waited_for_and_one_that_failed_is_rejected(
    facebook: Facebook, server: FakeFacebook, grant: Grant
) -> None:
    content = CONTENTS["reel"]
    for fails in (False, True):
        server.process_videos(checks=1, fail=fails)
        progress = go_to("create", facebook, grant, content)
        step(facebook, grant, content, progress)

        waiting = find_post(facebook, grant, content, progress)

        assert isinstance(waiting, Progress)
        assert (waiting.phase, waiting.accepted, waiting.ready_at is not None) == ("settle", True, True)
        if fails:
            with pytest.raises(ContentRejected):
                step(facebook, grant, content, waiting)
        else:
            assert isinstance(step(facebook, grant, content, waiting), Published)
    assert server.requests_to(FINISH_REEL) == 2
