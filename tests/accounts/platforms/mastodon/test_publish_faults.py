from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import MADE, ScriptedServer
from tests.accounts.platforms.mastodon.steps import go_to, post, step
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE

BEGUN = Progress("create", {"key": "tgt_1-k", "after": "6", "media": [], "pending": [], "looks": 0})


def error_answer(status: int, message: str = "no") -> Answer:
    return Answer.of_json({"error": message}, status)


@pytest.mark.parametrize("taken", [True, False])
def test_a_broken_connection_leaves_the_outcome_open(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, taken: bool
) -> None:
    progress = go_to("create", mastodon, grant, post())
    server.drop_next(CREATE, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        step(mastodon, grant, post(), progress)

    assert not caught.value.final
    assert len(server.statuses("alice")) == int(taken)


@pytest.mark.parametrize(
    "answer",
    [
        *(error_answer(status) for status in (500, 502, 503, 504)),
        Answer(524, b"<html>"),
        Answer(200, b""),
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b"[]"),
        Answer.of_json({"url": MADE["url"]}),
        Answer.of_json({**MADE, "id": 7}),
        Answer.of_json({**MADE, "id": "../7"}),
        Answer.of_json({**MADE, "padding": "x" * 4_000_000}),
    ],
)
def test_an_answer_that_names_no_status_leaves_the_outcome_open(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(OutcomeUnknown):
        step(mastodon, scripted_grant, post(), BEGUN)

    assert scripted.asked == [CREATE]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error_answer(401), AccountDisconnected),
        (Answer(401, b"<html>"), AccountDisconnected),
        (error_answer(403), AccountDisconnected),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (error_answer(400), ContentRejected),
        (error_answer(422), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (error_answer(404), Transient),
        (error_answer(410), Transient),
        (Answer(307, b"", {"Location": "/elsewhere"}), Transient),
        (error_answer(429), RateLimited),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError) as caught:
        step(mastodon, scripted_grant, post(), BEGUN)

    assert type(caught.value) is fault
    assert scripted.asked == [CREATE]


@pytest.mark.parametrize(
    ("status", "permalink"),
    [
        (
            {"id": "7", "url": None, "uri": "https://social.example/users/alice/7"},
            "https://social.example/users/alice/7",
        ),
        ({"id": "01HXA", "url": "javascript:alert(1)"}, ""),
    ],
)
def test_a_status_without_a_proper_address_is_published_all_the_same(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, status: dict[str, Any], permalink: str
) -> None:
    scripted.answers[CREATE] = Answer.of_json(status)

    assert step(mastodon, scripted_grant, post(), BEGUN) == Published(status["id"], permalink)


@pytest.mark.parametrize("message", ["x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None])
def test_a_message_of_the_server_is_one_bounded_line(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, message: Any
) -> None:
    scripted.answers[CREATE] = Answer(422, json.dumps({"error": message}).encode())

    with pytest.raises(ContentRejected) as caught:
        step(mastodon, scripted_grant, post(), BEGUN)

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"X-RateLimit-Reset": "2026-11-20T12:01:30.250000Z"}, 90.25),
        ({"X-RateLimit-Reset": "2026-11-20T13:01:30+01:00"}, 90.0),
        ({"X-RateLimit-Reset": "2026-11-20T12:01:30"}, 90.0),
        ({"X-RateLimit-Reset": "2026-11-20T11:00:00Z"}, 0.0),
        ({"X-RateLimit-Reset": "2027-11-20T11:00:00Z"}, 86_400.0),
        ({"X-RateLimit-Reset": "2026-11-20T12:01:30Z", "Retry-After": "30"}, 30.0),
        ({"X-RateLimit-Reset": "soon"}, None),
        ({"X-RateLimit-Reset": "9999-12-31T23:59:59-23:00"}, 86_400.0),
        ({"Retry-After": "-1"}, None),
        ({}, None),
    ],
)
def test_the_rate_limit_says_when_to_come_again(
    mastodon: Mastodon,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    scripted.answers[CREATE] = Answer.of_json({"error": "Too many requests"}, 429, headers)

    with (
        time_machine.travel(datetime(2026, 11, 20, 12, 0, tzinfo=UTC), tick=False),
        pytest.raises(RateLimited) as caught,
    ):
        step(mastodon, scripted_grant, post(), BEGUN)

    assert caught.value.retry_after == seconds


def test_a_frozen_login_cannot_publish(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = go_to("create", mastodon, grant, post())
    server.disable("alice")

    with pytest.raises(AccountDisconnected):
        step(mastodon, grant, post(), progress)

    assert server.statuses("alice") == []


def test_a_server_that_cannot_be_reached_took_nothing(mastodon: Mastodon, scripted_grant: Grant) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        away = replace(scripted_grant, tokens={**scripted_grant.tokens, "instance": address})

        with pytest.raises(Transient):
            step(mastodon, away, post(), BEGUN)
