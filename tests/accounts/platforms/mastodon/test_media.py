from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.mastodon.media import MAX_CHECKS
from accounts.platforms.types import Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import find, go_to, image, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, UPLOAD

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def ids_of(server: FakeMastodon) -> list[str]:
    return [upload["id"] for upload in server.uploads("alice")]


def test_images_are_uploaded_one_per_step_and_shown_in_order(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", image(b"one", "A flower"), image(b"two"), image(b"three", "Ein Stück Käse 🧀"))
    progress = go_to("upload", mastodon, grant, content)
    for done in (1, 2, 3):
        following = step(mastodon, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
        assert len(server.uploads("alice")) == done

    assert (progress.phase, progress.ready_at) == ("create", None)
    publish(mastodon, grant, content, progress)
    assert [(each["content"], each["description"]) for each in server.uploads("alice")] == [
        (b"one", "A flower"),
        (b"two", None),
        (b"three", "Ein Stück Käse 🧀"),
    ]
    assert {each["mime_type"] for each in server.uploads("alice")} == {"image/png"}
    assert [status["media"] for status in server.statuses("alice")] == [ids_of(server)]


def test_a_video_is_published_after_it_was_processed(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.process_videos(checks=2)
    content = post("Look", video())
    pauses = []
    with time_machine.travel(NOW, tick=False):
        progress: Progress | Published = go_to("process", mastodon, grant, content)
        while isinstance(progress, Progress) and progress.phase == "process":
            assert progress.ready_at is not None
            pauses.append((progress.ready_at - NOW).total_seconds())
            progress = step(mastodon, grant, content, progress)

    assert pauses == [2, 4, 8]
    assert isinstance(progress, Progress)
    publish(mastodon, grant, content, progress)
    assert [status["media"] for status in server.statuses("alice")] == [ids_of(server)]


def test_a_video_that_cannot_be_processed_is_rejected(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.process_videos(checks=1, fail=True)

    with pytest.raises(ContentRejected) as caught:
        publish(mastodon, grant, post("Look", video()))

    assert caught.value.message == ("The server could not process the media: Error processing thumbnail for uploaded media")
    assert server.requests_to(CREATE) == 0


def test_a_video_is_checked_a_limited_number_of_times(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.process_videos(checks=10_000)
    content = post("Look", video())
    progress = go_to("process", mastodon, grant, content)
    with time_machine.travel(NOW, tick=False):
        late = step(mastodon, grant, content, Progress("process", {**progress.state, "looks": MAX_CHECKS - 1}))
    assert isinstance(late, Progress)
    assert late.ready_at == NOW + timedelta(seconds=60)

    with pytest.raises(Transient):
        step(mastodon, grant, content, late)


def test_an_upload_that_was_lost_is_repeated_and_those_before_it_are_not(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    content = post("Look", image(b"one"), image(b"two"))
    first = step(mastodon, grant, content, go_to("upload", mastodon, grant, content))
    assert isinstance(first, Progress)
    server.drop_next(UPLOAD)
    with pytest.raises(Transient):
        step(mastodon, grant, content, first)

    publish(mastodon, grant, content, first)

    assert [each["content"] for each in server.uploads("alice")] == [b"one", b"two", b"two"]
    one, _, two = ids_of(server)
    assert [status["media"] for status in server.statuses("alice")] == [[one, two]]


def test_the_next_attempt_uses_the_same_uploads(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", image())
    progress = go_to("create", mastodon, grant, content)
    server.fail_next(CREATE, status=503)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)

    assert isinstance(find(mastodon, grant, content, progress), NotPublishedProof)
    publish(mastodon, grant, content, progress)

    assert [status["media"] for status in server.statuses("alice")] == [ids_of(server)]
    assert server.requests_to(UPLOAD) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"error": "Validation failed: File is invalid"}, 422), ContentRejected),
        (Answer(413, b"<html>Request Entity Too Large</html>"), ContentRejected),
        (Answer.of_json({"error": "Error processing thumbnail for uploaded media"}, 500), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"id": "../1"}), Transient),
        (Answer(404), Transient),
    ],
)
def test_the_error_of_each_response_to_an_upload(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[UPLOAD] = answer

    with pytest.raises(PlatformError) as caught:
        publish(mastodon, scripted_grant, post("Look", image()))

    assert type(caught.value) is fault
    assert CREATE not in scripted.calls


def test_media_that_are_still_processed_postpone_the_post(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", video())
    progress = go_to("create", mastodon, grant, content)
    server.unprocess(ids_of(server)[0], checks=2)
    with pytest.raises(Transient):
        step(mastodon, grant, content, progress)

    server.unprocess(ids_of(server)[0], checks=0)
    publish(mastodon, grant, content, progress)

    assert len(server.statuses("alice")) == 1


def test_media_that_a_status_uses_belong_to_an_earlier_attempt(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    content = post("Look", image())
    progress = go_to("create", mastodon, grant, content)
    server.drop_next(CREATE, after_accept=True)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)

    published = step(mastodon, grant, content, progress)

    assert isinstance(published, Published)
    assert [status["id"] for status in server.statuses("alice")] == [published.external_id]


def test_media_that_were_removed_are_uploaded_once_more(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", image(b"one"), image(b"two"))
    progress = go_to("create", mastodon, grant, content)
    server.remove_unattached_media()

    again = step(mastodon, grant, content, progress)

    assert isinstance(again, Progress)
    assert again.phase == "upload"
    progress = go_to("create", mastodon, grant, content, again)
    publish(mastodon, grant, content, progress)
    assert [status["media"] for status in server.statuses("alice")] == [ids_of(server)]


def test_media_that_are_removed_twice_fail_the_post(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", image())
    progress = go_to("create", mastodon, grant, content)
    server.remove_unattached_media()
    again = step(mastodon, grant, content, progress)
    assert isinstance(again, Progress)
    progress = go_to("create", mastodon, grant, content, again)
    server.remove_unattached_media()

    with pytest.raises(ContentRejected):
        step(mastodon, grant, content, progress)

    assert server.statuses("alice") == []
