from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.types import Content, Grant, MediaFile, NotPublishedProof, Progress, Published
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import find, go_to, post, publish, step, thread
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TIMELINE

THREE = thread("One", "Two", "Three")


def chain_of(server: FakeX) -> list[tuple[str, int | None]]:
    """The texts of alice's posts, each with the index of the post that it replies to."""
    posts = server.posts("alice")
    indexes = {made["id"]: index for index, made in enumerate(posts)}
    return [(made["text"], indexes.get(made["reply_to"])) for made in posts]


def after(sent: int, grant: Grant, content: Content) -> Progress:
    """The progress after this many segments were published."""
    progress = go_to("create", grant, content)
    for _ in range(sent):
        following = step(grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def test_each_segment_replies_to_the_one_before_and_the_first_is_the_permalink(server: FakeX, grant: Grant) -> None:
    published = publish(grant, THREE)

    assert chain_of(server) == [("One", None), ("Two", 0), ("Three", 1)]
    first = server.posts("alice")[0]["id"]
    assert published == Published(first, f"https://x.com/alice/status/{first}")
    assert server.requests_to(TIMELINE) == 0


def test_the_first_segment_has_the_media_and_options(server: FakeX, grant: Grant) -> None:
    content = post("One", media_file(picture()), thread=[{"text": "Two"}], reply_settings="verified", made_with_ai=True)

    publish(grant, content)

    first, second = server.posts("alice")
    assert (len(first["media"]), first["options"]) == (1, {"reply_settings": "verified", "made_with_ai": True})
    assert (second["media"], second["options"]) == ([], {})


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("media", [[], [media_file(picture())]], ids=["text", "photo"])
def test_a_thread_continues_after_a_lost_response(
    server: FakeX, grant: Grant, sent: int, published: bool, media: list[MediaFile]
) -> None:
    content = replace(thread("One", "Two at example.com", "Three"), media=tuple(media))
    progress = after(sent, grant, content)
    server.drop_next(CREATE, after_accept=published)
    with pytest.raises(OutcomeUnknown) as caught:
        step(grant, content, progress)
    assert not caught.value.final

    found = find(grant, content, progress)

    assert isinstance(found, NotPublishedProof) is not published
    if not isinstance(found, Published):
        publish(grant, content, progress if isinstance(found, NotPublishedProof) else found)
    assert chain_of(server) == [("One", None), ("Two at example.com", 0), ("Three", 1)]
    assert [len(made["media"]) for made in server.posts("alice")] == [len(media), 0, 0]
    assert server.posts_read == int(published)


def test_a_thread_ends_with_its_first_segment_if_x_refuses_replies(server: FakeX, grant: Grant) -> None:
    server.refuse_replies()

    with pytest.raises(ContentRejected, match=r"^X does not accept this post: Reply to"):
        publish(grant, THREE)

    assert chain_of(server) == [("One", None)]


@pytest.mark.parametrize(
    ("further", "message"),
    [
        (["a" * 281], "Segment 2 counts 281 weighted; X takes 280."),
        (["Two", "日" * 141], "Segment 3 counts 282 weighted; X takes 280."),
        ([" \n"], "Segment 2 is empty."),
        (["$ABC and $DEF"], "Segment 2 counts 2 cashtags; X takes 1."),
        (["Two", "Two"], "Segment 3 repeats an earlier one, which X refuses."),
        (["One"], "Segment 2 repeats an earlier one, which X refuses."),
    ],
)
def test_invalid_segments_are_rejected_before_the_first_is_published(
    server: FakeX, grant: Grant, further: list[str], message: str
) -> None:
    requests = len(server.requests)

    with pytest.raises(ContentRejected) as caught:
        publish(grant, thread("One", *further))

    assert caught.value.message == message
    assert len(server.requests) == requests
