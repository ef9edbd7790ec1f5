"""What fails in a step of a publication leads to the error that lets the engine do the right thing next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.base import START
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, RateLimited, Transient
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.contract.broken_calls import (
    BROKEN,
    TEXT,
    altered_answers,
    answer_next,
    assert_harmless_address,
    calls_of,
    error_of,
    failures,
    publish,
    secrets_in,
    step,
)
from tests.accounts.platforms.contract.content import content
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import world_of
from tests.fakes.http_server import Answer

HOSTILE: tuple[Any, ...] = ("x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None)


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Adapters may read what the operator has stored."""


class Publication:
    """Publications of one account, each with a text and a key of its own."""

    def __init__(self, world: World, clock: Any) -> None:
        self.world, self.clock, self.count = world, clock, 0
        self.grant: Grant = world.connection().grant
        self.secrets = secrets_in(self.grant)

    def content(self) -> Content:
        self.count += 1
        self.clock.shift(1)
        return replace(content(self.world, f"{TEXT} {self.count}"), key=f"tgt_{self.count}")

    def __call__(self) -> None:
        publish(self.world, self.grant, self.content())

    def refused(self, answer: Answer) -> PlatformError:
        """The error when the call that makes the post gets this answer."""
        self.world.server.refuse_next(self.world.create, answer)
        error = error_of(self, self.secrets)
        assert error
        return error


@pytest.fixture
def publication(world: World, clock: Any) -> Publication:
    return Publication(world, clock)


def test_each_call_that_fails_in_a_publication(
    publication: Publication, platform_name: str, clock: Any, settings: Settings
) -> None:
    """A new stand-in every now and then, since some platforms limit how much is posted in a day."""
    for call, faults in product(calls_of(publication.world, publication), (list(BROKEN)[::2], list(BROKEN)[1::2])):
        with world_of(platform_name, settings) as world:
            act = Publication(world, clock)
            assert list(failures(world, "publish", act, act.secrets, [call], faults)) == []


def through_create(world: World, grant: Grant, given: Content) -> tuple[Progress, Progress | Published]:
    """Take the steps up to the one that makes the post; that step's progress, and where it led."""
    progress = START
    while True:
        before = world.server.requests_to(world.create)
        following = step(world, grant, given, progress)
        if world.server.requests_to(world.create) > before:
            return progress, following
        assert isinstance(following, Progress)
        progress = following


def test_no_answer_to_a_post_that_was_taken_is_read_as_a_refusal(publication: Publication) -> None:
    """Each value of the answer is left out, of another type, or hostile."""
    world = publication.world
    for body in altered_answers(world, world.create, publication):
        answer_next(world, world.create, body)
        try:
            _, published = through_create(world, publication.grant, publication.content())
        except OutcomeUnknown:
            continue
        if isinstance(published, Published):
            assert published.external_id
            assert "../" not in published.external_id
            assert_harmless_address(published.permalink)


def test_a_limit_says_when_to_come_again_within_bounds(publication: Publication) -> None:
    world = publication.world
    for seconds in (world.pause, 120):
        error = publication.refused(world.limit(seconds))
        assert type(error) is RateLimited
        assert error.retry_after
        assert abs(error.retry_after - (seconds if world.says_when else world.pause)) <= 1

    limited = world.limit(120)
    for name in limited.headers:
        for value in ("soon", "-1", "9" * 30, "9" * 12, "9" * 8, "0", "{", '{"1": [{}]}', ""):
            if name.lower() != "content-type":
                error = publication.refused(replace(limited, headers={**limited.headers, name: value}))
                assert type(error) is RateLimited
                assert error.retry_after is None or 0 <= error.retry_after <= 86_400


@pytest.mark.parametrize("words", HOSTILE, ids=["long", "control characters", "object", "null"])
def test_a_reason_is_one_bounded_line(publication: Publication, words: Any) -> None:
    rejection = publication.world.rejection()

    error = publication.refused(replace(rejection, body=with_words(rejection.body, words)))

    assert type(error) is ContentRejected
    assert len(error.message) < 400


def with_words(body: bytes, words: Any) -> bytes:
    """The JSON document with these words in place of every sentence."""

    def put(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: put(item) for name, item in value.items()}
        if isinstance(value, list):
            return [put(item) for item in value]
        return words if isinstance(value, str) and " " in value else value

    return json.dumps(put(json.loads(body))).encode()


def test_a_body_too_large_is_a_refusal_of_the_content(publication: Publication) -> None:
    error = publication.refused(Answer(413, b"<html>"))

    assert type(error) is publication.world.too_large


def test_a_server_that_cannot_be_reached_took_nothing(publication: Publication) -> None:
    world, grant, given = publication.world, publication.grant, publication.content()
    progress, _ = through_create(world, grant, given)
    world.server.__exit__(None, None, None)

    error = error_of(lambda: step(world, grant, given, progress), publication.secrets)

    assert type(error) is Transient
