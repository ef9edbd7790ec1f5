"""Polls of Mastodon statuses: their limits, how they are sent, and how they are found again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.mastodon.capabilities import CAPABILITIES, capabilities_with_limits
from accounts.platforms.types import AccountLimitsAndScopes, Content, Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.mastodon.steps import find, go_to, image, post, publish, step
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE
from tests.fakes.mastodon_polls import Poll, PollLimits

ASKED = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}


def poll(text: str = "What next?", **options: Any) -> Content:
    """A Mastodon status with the poll."""
    return post(text, **{"poll": ASKED, **options})


def lose_response(mastodon: Mastodon, server: FakeMastodon, grant: Grant, content: Content, *, published: bool) -> Progress:
    """The progress after an attempt to create a poll whose response was lost."""
    progress = go_to("create", mastodon, grant, content)
    server.drop_next(CREATE, after_accept=published)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)
    return progress


@pytest.mark.parametrize(
    ("asked", "multiple", "hide_totals"),
    [({}, False, False), ({"multiple": True}, True, False), ({"hide_totals": True, "multiple": False}, False, True)],
)
def test_a_poll_is_published_with_its_question(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, asked: dict[str, bool], multiple: bool, hide_totals: bool
) -> None:
    publish(mastodon, grant, poll(poll={**ASKED, **asked}, visibility="unlisted"))

    (status,) = server.statuses("alice")
    assert (status["text"], status["visibility"]) == ("What next?", "unlisted")
    assert status["poll"] == Poll(("The bench", "The lathe"), 3600, multiple, hide_totals)


def test_the_poll_of_a_thread_is_its_first_segments(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    publish(mastodon, grant, poll(thread=[{"text": "Vote above."}]))

    assert [status["poll"] is not None for status in server.statuses("alice")] == [True, False]


def test_a_servers_own_limits_are_those_of_the_account(mastodon: Mastodon, server: FakeMastodon) -> None:
    server.set_poll_limits(PollLimits(10, 200, 90, 604_800))

    connection = mastodon.connect_with_credentials({"instance": server.url, "access_token": server.add_account("bob")})

    rules = mastodon.capabilities_for(
        AccountLimitsAndScopes(connection.identity.external_id, connection.identity.limits)
    ).poll
    assert rules is not None
    assert (rules.max_choices, rules.max_choice_length) == (10, 200)
    assert (rules.min_duration_minutes, rules.max_duration_minutes) == (2, 10_080)


@pytest.mark.parametrize(
    ("announced", "limits"),
    [
        ({}, (4, 50, 5, 43_829)),
        ({"poll_choices": 2**50, "poll_choice_length": 2**50}, (100, 1000, 5, 43_829)),
        ({"poll_choices": 1, "poll_min_seconds": 1, "poll_max_seconds": 59}, (2, 50, 1, 1)),
    ],
)
def test_the_limits_that_a_server_announces_are_bounded(announced: dict[str, int], limits: tuple[int, ...]) -> None:
    rules = capabilities_with_limits(**announced).poll
    assert rules is not None
    numbers = (rules.max_choices, rules.max_choice_length, rules.min_duration_minutes, rules.max_duration_minutes)
    assert numbers == limits
    assert CAPABILITIES.poll is not None


@pytest.mark.parametrize(
    ("limits", "asked", "words"),
    [
        ({"poll_choices": 2}, {"choices": ["a", "b", "c"]}, "3 choices; the account's server takes 2 choices"),
        ({"poll_choice_length": 8}, {}, "Choice 1 of the poll counts 9 graphemes; the account's server takes 8."),
        ({"poll_max_seconds": 600}, {}, "open for 60 minutes; the account's server takes from 5 minutes to 10 minutes"),
        ({}, {"choices": ["a", " a"]}, "Choice 2 of the poll repeats an earlier one"),
    ],
)
def test_a_poll_that_no_longer_fits_its_server_is_refused_before_anything_is_published(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, limits: dict[str, int], asked: dict[str, Any], words: str
) -> None:
    with pytest.raises(ContentRejected, match=words):
        step(mastodon, replace(grant, limits=limits), poll(poll={**ASKED, **asked}))

    assert server.requests_to(CREATE) == 0


def test_a_poll_beside_media_is_refused_before_they_are_uploaded(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    with pytest.raises(ContentRejected, match="takes no media in a post with a poll"):
        step(mastodon, grant, post("What next?", image(), poll=ASKED))

    assert server.uploads("alice") == []


def test_a_poll_that_the_server_refuses_is_rejected_as_content(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    server.set_poll_limits(PollLimits(max_characters_per_option=8))  # since the account was connected
    with pytest.raises(ContentRejected, match="cannot be longer than 8 characters"):
        publish(mastodon, grant, poll())

    assert server.statuses("alice") == []


def test_a_published_poll_is_found(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = poll(poll={**ASKED, "choices": ["Fish & <chips>", " Pie  "]})
    progress = lose_response(mastodon, server, grant, content, published=True)
    server.post("alice", "What next?")

    found = find(mastodon, grant, content, progress)

    assert isinstance(found, Published)
    assert found.external_id == server.statuses("alice")[0]["id"]


def test_a_poll_that_was_not_published_is_sent_again(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, poll(), published=False)
    server.post("alice", "Something else", poll=Poll(("The bench", "The lathe"), 3600, False, False))

    assert isinstance(find(mastodon, grant, poll(), progress), NotPublishedProof)


@pytest.mark.parametrize("theirs", [None, Poll(("Tea", "Coffee"), 3600, False, False)])
def test_the_question_with_another_poll_or_none_leaves_the_outcome_unknown(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, theirs: Poll | None
) -> None:
    """A server may have lost or changed the poll of the status."""
    progress = lose_response(mastodon, server, grant, poll(), published=False)
    server.post("alice", "What next?", poll=theirs)

    with pytest.raises(OutcomeUnknown):
        find(mastodon, grant, poll(), progress)


def test_a_text_is_not_taken_for_the_same_text_with_a_poll(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, post("What next?"), published=False)
    server.post("alice", "What next?", poll=Poll(("Tea", "Coffee"), 3600, False, False))

    assert isinstance(find(mastodon, grant, post("What next?"), progress), NotPublishedProof)
