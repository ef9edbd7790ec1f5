"""Polls: in the post's own call, and never taken for a post without one."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.types import Absent, Content, Grant, Progress, Published
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import go_to, look, post, publish, step
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, INITIALIZE, UPLOAD

ASKED = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}


def lose(x: X, server: FakeX, grant: Grant, content: Content, *, taken: bool) -> Progress:
    """The progress of a publication whose last answer never came."""
    progress = go_to("create", x, grant, content)
    server.drop_next(CREATE, after_accept=taken)
    with pytest.raises(OutcomeUnknown):
        step(x, grant, content, progress)
    return progress


def test_a_poll_stands_below_its_question(x: X, server: FakeX, grant: Grant) -> None:
    publish(x, grant, post("What next?", poll=ASKED, reply_settings="following"))

    (made,) = server.posts("alice")
    assert (made["text"], made["options"]) == ("What next?", {"reply_settings": "following"})
    assert made["poll"] == {"options": ["The bench", "The lathe"], "duration_minutes": 60}


def test_the_poll_of_a_thread_is_its_first_segments(x: X, server: FakeX, grant: Grant) -> None:
    publish(x, grant, post("What next?", poll=ASKED, thread=[{"text": "Vote above."}]))

    assert [made["poll"] is not None for made in server.posts("alice")] == [True, False]


def test_a_poll_beside_media_is_refused_before_they_are_uploaded(x: X, server: FakeX, grant: Grant) -> None:
    with pytest.raises(ContentRejected, match="X takes no media in a post with a poll"):
        step(x, grant, post("What next?", media_file(picture()), poll=ASKED))

    assert server.requests_to(UPLOAD) + server.requests_to(INITIALIZE) == 0


@pytest.mark.parametrize(
    "asked",
    [
        {"choices": ["Only one"]},
        {"choices": ["a", "b", "c", "d", "e"]},
        {"choices": ["a" * 26, "b"]},
        {"duration_minutes": 4},
        {"duration_minutes": 10_081},
    ],
)
def test_what_x_would_refuse_is_not_sent(x: X, server: FakeX, grant: Grant, asked: dict[str, Any]) -> None:
    with pytest.raises(ContentRejected):
        publish(x, grant, post("What next?", poll={**ASKED, **asked}))

    assert server.requests_to(CREATE) == 0


def test_a_poll_that_was_taken_is_found_and_one_that_was_not_is_sent_again(x: X, server: FakeX, grant: Grant) -> None:
    content = post("What next?", poll=ASKED)
    progress = lose(x, server, grant, content, taken=False)
    assert isinstance(look(x, grant, content, progress), Absent)

    server.drop_next(CREATE, after_accept=True)
    with pytest.raises(OutcomeUnknown):
        step(x, grant, content, progress)
    found = look(x, grant, content, progress)
    assert isinstance(found, Published)
    assert [made["id"] for made in server.posts("alice")] == [found.external_id]


def test_a_post_with_a_poll_is_not_taken_for_one_without(x: X, server: FakeX, grant: Grant) -> None:
    content = post("What next?")
    progress = lose(x, server, grant, content, taken=False)
    server.post("alice", "What next?", poll=dict(ASKED))

    assert isinstance(look(x, grant, content, progress), Absent)


def test_the_same_question_without_its_poll_is_for_a_person(x: X, server: FakeX, grant: Grant) -> None:
    """X may have left the poll out of its answer or out of the post: nobody knows whether this is the post."""
    content = post("What next?", poll=ASKED)
    progress = lose(x, server, grant, content, taken=False)
    server.post("alice", "What next?")

    with pytest.raises(OutcomeUnknown):
        look(x, grant, content, progress)
