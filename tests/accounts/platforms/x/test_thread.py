from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, TokenExpired
from accounts.platforms.types import Grant, Progress, Published
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import go_to, look, post, publish, step, thread
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TIMELINE

THREE = thread("One", "Two", "Three")


def chain_of(server: FakeX) -> list[tuple[str, int | None]]:
    """The texts of alice's posts, each with the place of the post that it replies to."""
    posts = server.posts("alice")
    places = {made["id"]: place for place, made in enumerate(posts)}
    return [(made["text"], places.get(made["reply_to"])) for made in posts]


def after(sent: int, x: X, grant: Grant) -> Progress:
    """The progress once so many segments are out."""
    progress = go_to("create", x, grant, THREE)
    for _ in range(sent):
        following = step(x, grant, THREE, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def test_segments_reply_to_each_other_and_the_first_stands_for_all(x: X, server: FakeX, grant: Grant) -> None:
    published = publish(x, grant, THREE)

    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]
    first = server.posts("alice")[0]["id"]
    assert published == Published(first, f"https://x.com/alice/status/{first}")
    assert server.requests_to(TIMELINE) == 0


def test_media_and_settings_are_the_first_segments(x: X, server: FakeX, grant: Grant) -> None:
    content = post("One", media_file(picture()), thread=[{"text": "Two"}], reply_settings="verified", made_with_ai=True)

    publish(x, grant, content)

    first, second = server.posts("alice")
    assert (len(first["media"]), first["options"]) == (1, {"reply_settings": "verified", "made_with_ai": True})
    assert (second["media"], second["options"]) == ([], {})


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("taken", [True, False])
def test_a_thread_goes_on_where_an_answer_was_lost(x: X, server: FakeX, grant: Grant, sent: int, taken: bool) -> None:
    progress = after(sent, x, grant)
    server.drop_next(CREATE, after_accept=taken)
    with pytest.raises(OutcomeUnknown) as caught:
        step(x, grant, THREE, progress)
    assert not caught.value.final

    found = look(x, grant, THREE, progress)

    assert (found is not None) is taken
    if not isinstance(found, Published):
        publish(x, grant, THREE, found or progress)
    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]
    assert server.posts_read == int(taken)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (0, "X did not say whether it took the post."),
        (1, "Segment 1 is out; it is not known whether segment 2 is."),
        (2, "Segments 1 and 2 are out; it is not known whether segment 3 is."),
    ],
)
def test_an_unknown_outcome_says_which_segments_are_out(
    x: X, server: FakeX, grant: Grant, sent: int, words: str
) -> None:
    progress = after(sent, x, grant)
    server.drop_next(CREATE)

    with pytest.raises(OutcomeUnknown) as caught:
        step(x, grant, THREE, progress)

    assert caught.value.message == words


def test_segments_are_listed_as_a_range_when_they_are_many(x: X, server: FakeX, grant: Grant) -> None:
    content = thread("One", "Two", "Three", "Four", "Five")
    progress = go_to("create", x, grant, content)
    while len(progress.state["sent"]) < 4:
        following = step(x, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    server.fail_next(CREATE)

    with pytest.raises(OutcomeUnknown, match=r"^Segments 1 to 4 are out; it is not known whether segment 5 is\.$"):
        step(x, grant, content, progress)


@pytest.mark.parametrize(
    ("answer", "final", "retry_after"),
    [
        (Answer.of_json({"detail": "no"}, 403), True, None),
        (Answer.of_json({"title": "CreditsDepleted", "detail": "no"}, 402), True, None),
        (Answer.of_json({"detail": "Your account is suspended"}, 403), True, None),
        (Answer(404, b"<html>"), False, None),
        (Answer(429, b"", {"x-rate-limit-remaining": "0", "x-rate-limit-reset": "0"}), False, 0.0),
    ],
)
def test_a_thread_that_has_begun_never_fails_as_a_whole(
    x: X, server: FakeX, grant: Grant, answer: Answer, final: bool, retry_after: float | None
) -> None:
    """A target that failed begins anew when it is retried, which would publish the first segments twice."""
    progress = after(1, x, grant)
    server.refuse_next(CREATE, answer)

    with pytest.raises(OutcomeUnknown) as caught:
        step(x, grant, THREE, progress)

    assert caught.value.message.startswith("Segment 1 is out; segment 2 is not: X")
    assert (caught.value.final, getattr(caught.value, "retry_after", None)) == (final, retry_after)


def test_a_stale_token_in_a_thread_is_renewed_as_ever(x: X, server: FakeX, grant: Grant) -> None:
    progress = after(1, x, grant)
    server.refuse_next(CREATE, Answer.of_json({"title": "Unauthorized"}, 401))

    with pytest.raises(TokenExpired):
        step(x, grant, THREE, progress)

    publish(x, x.refresh(grant), THREE, progress)
    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]


def test_an_app_that_may_not_reply_says_how_far_it_came(x: X, server: FakeX, grant: Grant) -> None:
    server.refuse_replies()

    with pytest.raises(OutcomeUnknown) as caught:
        publish(x, grant, THREE)

    assert caught.value.final
    assert caught.value.message.startswith("Segment 1 is out; segment 2 is not: X does not take this post: Reply to")
    assert chain_of(server) == [("One", None)]


@pytest.mark.parametrize(
    ("further", "words"),
    [
        (["a" * 281], "Segment 2 counts 281 weighted characters; X takes 280."),
        (["Two", "日" * 141], "Segment 3 counts 282 weighted characters; X takes 280."),
        ([" \n"], "Segment 2 is empty."),
        (["$ABC and $DEF"], "Segment 2 holds several cashtags; X takes 1 in a post."),
        (["More at example.com"], "Segment 2 holds a link; links can stand in the first segment only."),
        (["Two", "Two"], "Segment 3 repeats an earlier one, which X refuses."),
        (["One"], "Segment 2 repeats an earlier one, which X refuses."),
    ],
)
def test_segments_that_x_would_refuse_are_refused_before_the_first_is_out(
    x: X, server: FakeX, grant: Grant, further: list[str], words: str
) -> None:
    asked = len(server.requests)

    with pytest.raises(ContentRejected) as caught:
        publish(x, grant, thread("One", *further))

    assert caught.value.message == words
    assert len(server.requests) == asked
