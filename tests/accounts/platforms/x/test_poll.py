"""Polls, which are part of the call that creates the post."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.types import Grant, NotPublishedProof
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import find, lose_response, post, publish, step
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, INITIALIZE, UPLOAD

POLL = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}


def test_a_poll_is_published_with_its_question(server: FakeX, grant: Grant) -> None:
    publish(grant, post("What next?", poll=POLL, reply_settings="following"))

    (made,) = server.posts("alice")
    assert (made["text"], made["options"]) == ("What next?", {"reply_settings": "following"})
    assert made["poll"] == {"options": ["The bench", "The lathe"], "duration_minutes": 60}


def test_the_first_segment_of_a_thread_has_the_poll(server: FakeX, grant: Grant) -> None:
    publish(grant, post("What next?", poll=POLL, thread=[{"text": "Vote above."}]))

    assert [made["poll"] is not None for made in server.posts("alice")] == [True, False]


def test_a_poll_with_media_is_rejected_before_the_upload(server: FakeX, grant: Grant) -> None:
    with pytest.raises(ContentRejected, match="X takes no media in a post with a poll"):
        step(grant, post("What next?", media_file(picture()), poll=POLL))

    assert server.requests_to(UPLOAD) + server.requests_to(INITIALIZE) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": ["Only one"]},
        {"choices": ["a", "b", "c", "d", "e"]},
        {"choices": ["a" * 26, "b"]},
        {"duration_minutes": 4},
        {"duration_minutes": 10_081},
    ],
)
def test_a_poll_beyond_xs_limits_is_not_sent(server: FakeX, grant: Grant, changes: dict[str, Any]) -> None:
    with pytest.raises(ContentRejected):
        publish(grant, post("What next?", poll={**POLL, **changes}))

    assert server.requests_to(CREATE) == 0


def test_a_post_with_a_poll_is_not_taken_for_one_without(server: FakeX, grant: Grant) -> None:
    content = post("What next?")
    progress = lose_response(server, grant, content, published=False)
    server.post("alice", "What next?", poll=dict(POLL))

    assert isinstance(find(grant, content, progress), NotPublishedProof)


def test_the_same_question_without_a_poll_leaves_the_outcome_unknown(server: FakeX, grant: Grant) -> None:
    """X may have left the poll out of its response or out of the post."""
    content = post("What next?", poll=POLL)
    progress = lose_response(server, grant, content, published=False)
    server.post("alice", "What next?")

    with pytest.raises(OutcomeUnknown):
        find(grant, content, progress)
