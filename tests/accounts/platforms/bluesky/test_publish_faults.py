from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.bluesky.scripted_server import DID, GET_RECORD, PUT_RECORD, ScriptedServer
from tests.accounts.platforms.bluesky.steps import put, start
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer

RKEY = "3l25zusnsfck2"
URI = f"at://{DID}/app.bsky.feed.post/{RKEY}"
RECORD = {"$type": "app.bsky.feed.post", "text": "Hello", "createdAt": "2026-11-20T15:42:07.123Z"}
FROZEN = Progress("put", {"rkey": RKEY, "record": RECORD})
INVALID_SWAP = Answer.of_json({"error": "InvalidSwap", "message": "Record was at bafy"}, 400)


@pytest.fixture
def scripted_grant(scripted: ScriptedServer) -> Grant:
    return Grant(tokens={"access": "access", "refresh": "refresh", "pds": scripted.url}, external_id=DID)


def error_answer(status: int, name: str, message: str = "") -> Answer:
    return Answer.of_json({"error": name, "message": message}, status)


def test_a_post_that_was_taken_before_the_connection_broke_is_found(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.drop_next(PUT_RECORD, after_accept=True)

    published = put(bluesky, grant, progress)

    assert published.external_id == pds.records(grant.external_id)[0]["uri"]
    assert (pds.writes, pds.requests_to(PUT_RECORD)) == (1, 1)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_post_that_was_taken_behind_a_server_error_is_found(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, status: int
) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.fail_next(PUT_RECORD, status=status, after_accept=True)

    put(bluesky, grant, progress)

    assert (pds.writes, pds.requests_to(PUT_RECORD)) == (1, 1)


def test_a_post_that_is_not_to_be_seen_after_a_broken_connection_is_an_open_outcome(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.drop_next(PUT_RECORD, after_accept=False)
    with pytest.raises(OutcomeUnknown) as caught:
        put(bluesky, grant, progress)
    assert (caught.value.final, pds.writes) == (False, 0)

    put(bluesky, grant, progress)

    assert pds.writes == 1


def test_a_post_that_cannot_be_looked_for_is_an_open_outcome_and_repeating_settles_it(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.drop_next(PUT_RECORD, after_accept=True)
    pds.fail_next(GET_RECORD, status=503)
    with pytest.raises(OutcomeUnknown):
        put(bluesky, grant, progress)

    put(bluesky, grant, progress)

    assert (pds.writes, pds.requests_to(PUT_RECORD)) == (1, 2)


def test_another_post_under_the_key_is_left_as_it_is(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "First")
    put(bluesky, grant, progress)
    other = start(bluesky, grant, "Second")

    with pytest.raises(ContentRejected):
        put(bluesky, grant, Progress("put", {**other.state, "rkey": progress.state["rkey"]}))

    assert [record["value"]["text"] for record in pds.records(grant.external_id)] == ["First"]


@pytest.mark.parametrize(
    ("swap_refused", "look", "fault"),
    [
        (False, Answer.of_json({"uri": URI, "value": {**RECORD, "extra": 1}}), None),
        (True, Answer.of_json({"uri": URI, "value": {**RECORD, "extra": 1}}), None),
        (False, Answer.of_json({"uri": URI, "value": {**RECORD, "text": "Bye"}}), OutcomeUnknown),
        (True, Answer.of_json({"uri": URI, "value": {**RECORD, "text": "Bye"}}), ContentRejected),
        (True, Answer.of_json({"uri": URI, "value": "Hello"}), OutcomeUnknown),
        (True, Answer(200, b"<html>"), OutcomeUnknown),
        (True, error_answer(400, "RecordNotFound"), OutcomeUnknown),
        (False, error_answer(401, "AuthMissing"), OutcomeUnknown),
    ],
)
def test_what_stands_under_the_key_decides(
    bluesky: Bluesky,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    swap_refused: bool,
    look: Answer,
    fault: type[PlatformError] | None,
) -> None:
    scripted.answers = {PUT_RECORD: INVALID_SWAP if swap_refused else Answer(502), GET_RECORD: look}

    if fault:
        with pytest.raises(fault):
            put(bluesky, scripted_grant, FROZEN)
    else:
        assert put(bluesky, scripted_grant, FROZEN).external_id == URI

    assert scripted.asked == [PUT_RECORD, GET_RECORD]
    assert scripted.requests[1].query == {"repo": DID, "collection": "app.bsky.feed.post", "rkey": RKEY}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b""),
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b"[]"),
        Answer(200, b'{"uri": null}'),
        Answer.of_json({"uri": "at://did:plc:other/app.bsky.feed.post/3l25zusnsfck2"}),
        Answer.of_json({"uri": URI, "padding": "x" * 300_000}),
    ],
)
def test_success_that_names_no_post_of_ours_is_an_open_outcome(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[PUT_RECORD] = answer

    with pytest.raises(OutcomeUnknown):
        put(bluesky, scripted_grant, FROZEN)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error_answer(400, "ExpiredToken"), TokenExpired),
        (error_answer(400, "InvalidToken"), TokenExpired),
        (error_answer(401, "ExpiredToken"), TokenExpired),
        (error_answer(401, "AccountTakedown"), AccountDisconnected),
        (error_answer(401, "AccountDeactivated"), AccountDisconnected),
        (error_answer(400, "AccountDeactivated"), AccountDisconnected),
        (error_answer(403, "AccountNotFound"), AccountDisconnected),
        (error_answer(401, "AuthenticationRequired"), AccountDisconnected),
        (error_answer(400, "InvalidRequest"), ContentRejected),
        (error_answer(413, "PayloadTooLarge"), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (error_answer(429, "RateLimitExceeded"), RateLimited),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(404, b"<html>"), Transient),
        (Answer(307, b"", {"Location": "/elsewhere"}), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps_and_nothing_is_looked_for(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[PUT_RECORD] = answer

    with pytest.raises(PlatformError) as caught:
        put(bluesky, scripted_grant, FROZEN)

    assert type(caught.value) is fault
    assert scripted.asked == [PUT_RECORD]


def test_a_text_too_long_is_rejected_with_the_platforms_words(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "a" * 301)

    with pytest.raises(ContentRejected) as caught:
        put(bluesky, grant, progress)

    assert caught.value.message == (
        "Bluesky does not accept this post: Invalid app.bsky.feed.post record: "
        "grapheme too big (maximum 300, got 301) at $.record.text"
    )
    assert pds.writes == 0


@pytest.mark.parametrize("message", ["x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None])
def test_a_message_of_the_platform_is_one_bounded_line(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, message: Any
) -> None:
    scripted.answers[PUT_RECORD] = Answer(400, json.dumps({"error": "InvalidRequest", "message": message}).encode())

    with pytest.raises(ContentRejected) as caught:
        put(bluesky, scripted_grant, FROZEN)

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30", "RateLimit-Reset": "1"}, 30.0),
        ({"RateLimit-Reset": "1795000090"}, 90.0),
        ({"RateLimit-Reset": "1794999999"}, 0.0),
        ({"Retry-After": "99999999"}, 86_400.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({}, None),
    ],
)
def test_the_rate_limit_says_when_to_come_again(
    bluesky: Bluesky,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    scripted.answers[PUT_RECORD] = Answer.of_json({"error": "RateLimitExceeded"}, 429, headers)

    with (
        time_machine.travel(datetime.fromtimestamp(1_795_000_000, UTC), tick=False),
        pytest.raises(RateLimited) as caught,
    ):
        put(bluesky, scripted_grant, FROZEN)

    assert caught.value.retry_after == seconds


def test_an_account_that_was_taken_down_cannot_publish(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.take_down(grant.external_id)

    with pytest.raises(AccountDisconnected):
        put(bluesky, grant, progress)

    assert pds.writes == 0


def test_a_server_that_cannot_be_reached_took_nothing(bluesky: Bluesky, grant: Grant) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = replace(grant, tokens={**grant.tokens, "pds": f"http://127.0.0.1:{unused.getsockname()[1]}"})

        with pytest.raises(Transient):
            put(bluesky, away, start(bluesky, grant, "Hello"))
