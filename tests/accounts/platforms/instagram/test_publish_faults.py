from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.instagram.files import image, video
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.meta.steps import error, follow, go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.instagram import OBJECT, PUBLISH, FakeInstagram

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def content(server: FakeInstagram) -> Content:
    return post("Hello", image(server))


@pytest.fixture
def ready(instagram: Instagram, grant: Grant, content: Content) -> Progress:
    """The progress before the step that publishes."""
    return go_to("create", instagram, grant, content)


def test_a_post_that_is_refused_but_published_is_published(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress
) -> None:
    server.refuse_next(PUBLISH, error(424242, "An unexpected error"), after_accept=True)

    published = step(instagram, grant, content, ready)

    [made] = server.posts("alice")
    assert isinstance(published, Published)
    assert (published.external_id, published.permalink) == (made["id"], f"https://www.instagram.com/p/C{made['id']}/")


def test_a_container_that_is_not_ready_is_waited_for(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress
) -> None:
    server.refuse_next(PUBLISH, error(9007, "Media ID is not available", 2207027))

    waiting = step(instagram, grant, content, ready)

    assert isinstance(waiting, Progress)
    assert (waiting.phase, waiting.ready_at is not None) == ("process", True)
    publish(instagram, grant, content, waiting)
    assert len(server.posts("alice")) == 1


@pytest.mark.parametrize("phase", ["process", "create"])
def test_expired_containers_are_created_again_a_few_times(
    instagram: Instagram, server: FakeInstagram, grant: Grant, phase: str
) -> None:
    content = post("Look", image(server), image(server, "red"))
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        progress = go_to(phase, instagram, grant, content)
        for _ in range(2):
            clock.shift(timedelta(hours=25))
            following = step(instagram, grant, content, progress)
            assert isinstance(following, Progress)
            assert (following.phase, following.state["children"]) == ("container", [])
            progress = go_to(phase, instagram, grant, content, following)
        clock.shift(timedelta(hours=25))
        with pytest.raises(ContentRejected, match="could not prepare"):
            step(instagram, grant, content, progress)

    assert server.posts("alice") == []


def test_a_file_is_retried_after_a_temporary_failure_and_rejected_after_another(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    server.process_media(checks=1, error=2207053)
    content = post("Look", video(server))
    progress = go_to("process", instagram, grant, content)
    waiting = step(instagram, grant, content, progress)
    assert isinstance(waiting, Progress)
    again = step(instagram, grant, content, waiting)
    assert isinstance(again, Progress)
    assert again.phase == "container"

    server.process_media(checks=0, error=2207026)
    with pytest.raises(ContentRejected, match="failed with error code 2207026"):
        publish(instagram, grant, content, again)


def test_a_file_of_the_wrong_format_is_rejected(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    png = media_file(picture(), "image/jpeg", url=server.serve(picture()))

    with pytest.raises(ContentRejected, match="2207005"):
        publish(instagram, grant, post("Look", png))


def test_a_file_that_cannot_be_fetched_is_tried_again(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    gone = media_file(picture(form="JPEG"), "image/jpeg", url="https://files.example/gone")

    with pytest.raises(Transient, match="2207052"):
        publish(instagram, grant, post("Look", gone))


def test_waiting_for_a_container_ends(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    server.process_media(checks=10_000)
    content = post("Look", video(server))
    checks: list[Progress] = []
    with time_machine.travel(NOW, tick=False):
        grant = Grant({}, grant.tokens, grant.external_id)
        with pytest.raises(Transient, match="not finished"):
            checks.extend(follow(instagram, grant, content))

    assert 1800 < sum((each.ready_at - NOW).total_seconds() for each in checks if each.ready_at) < 7200


@pytest.mark.parametrize(
    "permalink", [error(100, "Unsupported get request", 33), Answer(200, b'{"permalink": "javascript:alert(1)"}')]
)
def test_a_post_without_a_permalink_is_published(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress, permalink: Answer
) -> None:
    server.refuse_next(OBJECT, permalink)

    published = step(instagram, grant, content, ready)

    assert published == Published(server.posts("alice")[0]["id"], "")
