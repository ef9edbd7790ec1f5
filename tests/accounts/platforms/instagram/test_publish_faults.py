from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Absent, AskedById, Content, Grant, Progress, Published
from tests.accounts.platforms.instagram.steps import error, follow, go_to, image, look, post, publish, step, video
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.instagram import COMMENT, MAKE, OBJECT, PUBLISH, FakeInstagram

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def content(server: FakeInstagram) -> Content:
    return post("Hello", image(server))


@pytest.fixture
def ready(instagram: Instagram, grant: Grant, content: Content) -> Progress:
    """All but the publication is done."""
    return go_to("create", instagram, grant, content)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("way", ["dropped", "failed"])
def test_an_answer_that_is_lost_leaves_the_outcome_open_until_the_container_is_asked(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress, taken: bool, way: str
) -> None:
    if way == "dropped":
        server.drop_next(PUBLISH, after_accept=taken)
    else:
        server.fail_next(PUBLISH, 504, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        step(instagram, grant, content, ready)

    assert not caught.value.final
    found = look(instagram, grant, content, ready)
    if taken:
        assert isinstance(found, Published)
        assert found.external_id == server.posts("alice")[0]["id"]
    else:
        assert found == Absent(AskedById("the container is FINISHED"))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(200, b"<html>"), OutcomeUnknown),
        (Answer.of_json({"id": "../7"}), OutcomeUnknown),
        (error(-1, "Instagram server error", 2207001), OutcomeUnknown),
        (error(2, "Service temporarily unavailable", status=500), OutcomeUnknown),
        (error(190, "Session has expired", 463, 401), TokenExpired),
        (error(10, "(#10) Permission denied", status=403), AccountDisconnected),
        (error(25, "The account is restricted", 2207050), AccountDisconnected),
        (error(101, "Error validating application"), ConnectionUnavailable),
        (error(80002, "(#80002) There have been too many calls"), RateLimited),
        (error(4, "We restrict certain activity", 2207051), ContentRejected),
        (error(100, "(#100) Invalid parameter"), ContentRejected),
        (Answer(403, b"<html>Blocked</html>"), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    instagram: Instagram,
    server: FakeInstagram,
    grant: Grant,
    content: Content,
    ready: Progress,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    server.refuse_next(PUBLISH, answer)

    with pytest.raises(PlatformError) as caught:
        step(instagram, grant, content, ready)

    assert type(caught.value) is fault
    assert server.posts("alice") == []


def test_a_post_that_is_refused_and_out_all_the_same_is_out(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress
) -> None:
    server.refuse_next(PUBLISH, error(424242, "An unexpected error"), after_accept=True)

    published = step(instagram, grant, content, ready)

    [made] = server.posts("alice")
    assert isinstance(published, Published)
    assert (published.external_id, published.permalink) == (made["id"], f"https://www.instagram.com/p/C{made['id']}/")


def test_a_container_is_published_once(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress
) -> None:
    first = step(instagram, grant, content, ready)

    assert step(instagram, grant, content, ready) == first
    assert len(server.posts("alice")) == 1


def test_a_container_that_is_not_ready_after_all_is_waited_for(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress
) -> None:
    server.refuse_next(PUBLISH, error(9007, "Media ID is not available", 2207027))

    waiting = step(instagram, grant, content, ready)

    assert isinstance(waiting, Progress)
    assert (waiting.phase, waiting.ready_at is not None) == ("process", True)
    publish(instagram, grant, content, waiting)
    assert len(server.posts("alice")) == 1


@pytest.mark.parametrize("phase", ["process", "create"])
def test_containers_that_expired_are_made_anew_a_few_times(
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


def test_a_file_that_failed_for_the_moment_is_tried_again_and_another_is_rejected(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    server.process_media(looks=1, error=2207053)
    content = post("Look", video(server))
    progress = go_to("process", instagram, grant, content)
    waiting = step(instagram, grant, content, progress)
    assert isinstance(waiting, Progress)
    again = step(instagram, grant, content, waiting)
    assert isinstance(again, Progress)
    assert again.phase == "container"

    server.process_media(looks=0, error=2207026)
    with pytest.raises(ContentRejected, match="failed with error code 2207026"):
        publish(instagram, grant, content, again)


def test_a_file_that_is_none_is_rejected(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    png = media_file(picture(), "image/jpeg", url=server.serve(picture()))

    with pytest.raises(ContentRejected, match="2207005"):
        publish(instagram, grant, post("Look", png))


def test_an_address_that_cannot_be_fetched_is_tried_again(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    gone = media_file(picture(form="JPEG"), "image/jpeg", url="https://files.example/gone")

    with pytest.raises(Transient, match="2207052"):
        publish(instagram, grant, post("Look", gone))


def test_a_container_is_not_asked_about_for_ever(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    server.process_media(looks=10_000)
    content = post("Look", video(server))
    looks: list[Progress] = []
    with time_machine.travel(NOW, tick=False):
        grant = Grant({}, grant.tokens, grant.external_id)
        with pytest.raises(Transient, match="not finished"):
            looks.extend(follow(instagram, grant, content))

    assert 1800 < sum((each.ready_at - NOW).total_seconds() for each in looks if each.ready_at) < 7200


@pytest.mark.parametrize("call", [MAKE, OBJECT])
@pytest.mark.parametrize("way", ["dropped", "failed"])
def test_what_fails_before_the_publication_is_repeated_and_nothing_is_out(
    instagram: Instagram, server: FakeInstagram, grant: Grant, call: str, way: str
) -> None:
    content = post("Look", image(server), image(server, "red"))
    server.drop_next(call) if way == "dropped" else server.fail_next(call)
    reached: list[Progress] = []
    with pytest.raises(Transient):
        reached.extend(follow(instagram, grant, content))
    assert server.posts("alice") == []

    publish(instagram, grant, content, reached[-1])

    assert [len(made["files"]) for made in server.posts("alice")] == [2]


@pytest.mark.parametrize(
    "permalink", [error(100, "Unsupported get request", 33), Answer(200, b'{"permalink": "javascript:alert(1)"}')]
)
def test_where_a_post_is_shown_is_no_reason_to_fail(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, ready: Progress, permalink: Answer
) -> None:
    server.refuse_next(OBJECT, permalink)

    published = step(instagram, grant, content, ready)

    assert published == Published(server.posts("alice")[0]["id"], "")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(200, "(#200) instagram_business_manage_comments must be granted", status=403), ContentRejected),
        (error(100, "Invalid comment message"), ContentRejected),
        (error(80002, "Too many calls"), RateLimited),
        (error(1, "An unknown error occurred"), OutcomeUnknown),
        (Answer(502), OutcomeUnknown),
        (Answer(200, b"<html>"), OutcomeUnknown),
    ],
)
def test_a_first_comment_has_faults_of_its_own(
    instagram: Instagram, server: FakeInstagram, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    content = post("Hello", image(server), first_comment="More")
    progress = go_to("comment", instagram, grant, content)
    assert progress.state["out"]["external_id"] == server.posts("alice")[0]["id"]
    server.refuse_next(COMMENT, answer)

    with pytest.raises(PlatformError) as caught:
        step(instagram, grant, content, progress)

    assert type(caught.value) is fault
    assert server.requests_to(PUBLISH) == 1
