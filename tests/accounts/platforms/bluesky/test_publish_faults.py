"""Failures while a Bluesky record is put: the record under its key decides whether the post is published."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
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


@pytest.mark.parametrize("fault", ["drop", 500, 503])
def test_a_published_post_is_found_in_the_same_step(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, fault: Any) -> None:
    progress = start(bluesky, grant, "Hello")
    if fault == "drop":
        pds.drop_next(PUT_RECORD, after_accept=True)
    else:
        pds.fail_next(PUT_RECORD, status=fault, after_accept=True)

    published = put(bluesky, grant, progress)

    assert published.external_id == pds.records(grant.external_id)[0]["uri"]
    assert (pds.writes, pds.requests_to(PUT_RECORD)) == (1, 1)


@pytest.mark.parametrize("published", [True, False], ids=["published but unreadable", "not published"])
def test_an_unknown_outcome_is_settled_by_the_next_put(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, published: bool
) -> None:
    progress = start(bluesky, grant, "Hello")
    pds.drop_next(PUT_RECORD, after_accept=published)
    if published:
        pds.fail_next(GET_RECORD, status=503)
    with pytest.raises(OutcomeUnknown) as caught:
        put(bluesky, grant, progress)
    assert (caught.value.final, pds.writes) == (False, int(published))

    put(bluesky, grant, progress)

    assert pds.writes == 1


def test_another_post_under_the_key_is_not_overwritten(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "First")
    put(bluesky, grant, progress)
    other = start(bluesky, grant, "Second")

    with pytest.raises(ContentRejected):
        put(bluesky, grant, Progress("put", {**other.state, "rkey": progress.state["rkey"]}))

    assert [record["value"]["text"] for record in pds.records(grant.external_id)] == ["First"]


@pytest.mark.parametrize(
    ("swap_refused", "record", "error"),
    [
        (False, Answer.of_json({"uri": URI, "value": {**RECORD, "extra": 1}}), None),
        (True, Answer.of_json({"uri": URI, "value": {**RECORD, "extra": 1}}), None),
        (False, Answer.of_json({"uri": URI, "value": {**RECORD, "text": "Bye"}}), OutcomeUnknown),
        (True, Answer.of_json({"uri": URI, "value": {**RECORD, "text": "Bye"}}), ContentRejected),
        (True, Answer.of_json({"uri": URI, "value": "Hello"}), OutcomeUnknown),
        (True, Answer(200, b"<html>"), OutcomeUnknown),
        (True, Answer.of_json({"error": "RecordNotFound"}, 400), OutcomeUnknown),
        (False, Answer.of_json({"error": "AuthMissing"}, 401), OutcomeUnknown),
    ],
)
def test_the_record_under_the_key_decides(
    bluesky: Bluesky,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    swap_refused: bool,
    record: Answer,
    error: type[PlatformError] | None,
) -> None:
    scripted.answers = {PUT_RECORD: INVALID_SWAP if swap_refused else Answer(502), GET_RECORD: record}

    if error:
        with pytest.raises(error):
            put(bluesky, scripted_grant, FROZEN)
    else:
        assert put(bluesky, scripted_grant, FROZEN).external_id == URI

    assert scripted.calls == [PUT_RECORD, GET_RECORD]
    assert scripted.requests[1].query == {"repo": DID, "collection": "app.bsky.feed.post", "rkey": RKEY}


@pytest.mark.parametrize(
    ("status", "name", "error"),
    [
        (400, "ExpiredToken", TokenExpired),
        (400, "InvalidToken", TokenExpired),
        (401, "ExpiredToken", TokenExpired),
        (401, "AccountTakedown", ReauthRequired),
        (400, "AccountDeactivated", ReauthRequired),
        (403, "AccountNotFound", ReauthRequired),
        (401, "AuthenticationRequired", ReauthRequired),
        (400, "InvalidRequest", ContentRejected),
        (413, "PayloadTooLarge", ContentRejected),
    ],
)
def test_the_error_of_each_refusal(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, status: int, name: str, error: type[PlatformError]
) -> None:
    scripted.answers[PUT_RECORD] = Answer.of_json({"error": name}, status)

    with pytest.raises(PlatformError) as caught:
        put(bluesky, scripted_grant, FROZEN)

    assert type(caught.value) is error
    assert scripted.calls == [PUT_RECORD]


def test_a_text_that_is_too_long_is_rejected_in_blueskys_words(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "a" * 301)

    with pytest.raises(ContentRejected) as caught:
        put(bluesky, grant, progress)

    assert caught.value.message == (
        "Bluesky does not accept this post: Invalid app.bsky.feed.post record: "
        "grapheme too big (maximum 300, got 301) at $.record.text"
    )
    assert pds.writes == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry-After": "30", "RateLimit-Reset": "1"}, 30.0), ({"RateLimit-Reset": "1795000090"}, 90.0), ({}, None)],
)
def test_the_rate_limit_ends_at_its_reset_time(
    bluesky: Bluesky, scripted: ScriptedServer, scripted_grant: Grant, headers: dict[str, str], seconds: float | None
) -> None:
    scripted.answers[PUT_RECORD] = Answer.of_json({"error": "RateLimitExceeded"}, 429, headers)

    with time_machine.travel(datetime.fromtimestamp(1_795_000_000, UTC), tick=False), pytest.raises(RateLimited) as caught:
        put(bluesky, scripted_grant, FROZEN)

    assert caught.value.retry_after == seconds
