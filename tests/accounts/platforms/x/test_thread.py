from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, TokenExpired
from accounts.platforms.types import Absent, Grant, Progress, Published
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

    assert isinstance(found, Absent) is not taken
    if not isinstance(found, Published):
        publish(x, grant, THREE, progress if isinstance(found, Absent) else found)
    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]
    assert server.posts_read == int(taken)


def test_a_stale_token_in_a_thread_is_renewed_as_ever(x: X, server: FakeX, grant: Grant) -> None:
    progress = after(1, x, grant)
    server.refuse_next(CREATE, Answer.of_json({"title": "Unauthorized"}, 401))

    with pytest.raises(TokenExpired):
        step(x, grant, THREE, progress)

    publish(x, x.refresh(grant), THREE, progress)
    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]


def test_an_app_that_may_not_reply_is_told_so_at_the_second_segment(x: X, server: FakeX, grant: Grant) -> None:
    server.refuse_replies()

    with pytest.raises(ContentRejected, match=r"^X does not accept this post: Reply to"):
        publish(x, grant, THREE)

    assert chain_of(server) == [("One", None)]


def test_a_further_segment_may_hold_a_link(x: X, server: FakeX, grant: Grant) -> None:
    content = thread("One", "More at example.com")
    progress = go_to("create", x, grant, content)
    following = step(x, grant, content, progress)
    assert isinstance(following, Progress)
    server.drop_next(CREATE)
    with pytest.raises(OutcomeUnknown):
        step(x, grant, content, following)

    assert isinstance(look(x, grant, content, following), Published)
    assert [text for text, _ in chain_of(server)] == ["One", "More at example.com"]


@pytest.mark.parametrize(
    ("further", "words"),
    [
        (["a" * 281], "Segment 2 counts 281 weighted; X takes 280."),
        (["Two", "日" * 141], "Segment 3 counts 282 weighted; X takes 280."),
        ([" \n"], "Segment 2 is empty."),
        (["$ABC and $DEF"], "Segment 2 counts 2 cashtags; X takes 1."),
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
