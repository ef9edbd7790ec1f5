"""The steps of a publication on X, each taken from its progress as a database returns it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.platforms.base import START
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.types import Content, Grant, MediaFile, NotPublishedProof, Progress, Published
from accounts.platforms.x.adapter import X
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """A post to publish."""
    return Content("tgt_1", text, options, media=media)


def thread(*texts: str) -> Content:
    """A thread to publish, with these segments."""
    return post(texts[0], thread=[{"text": text} for text in texts[1:]])


def step(grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """Take one step."""
    return X().publish_step(grant, content, stored(progress))


def go_to(phase: str, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """Take all steps before `phase`."""
    while progress.phase != phase:
        following = step(grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(grant, content, result)
    return result


def find(grant: Grant, content: Content, progress: Progress) -> Progress | Published | NotPublishedProof:
    """Search for what an earlier attempt of the step may have published."""
    return X().find_or_rule_out_published_post(grant, content, stored(progress))


def lose_response(server: FakeX, grant: Grant, content: Content, *, published: bool = True) -> Progress:
    """The progress of a publication after the call that creates the post got no response."""
    progress = go_to("create", grant, content)
    server.drop_next(CREATE, after_accept=published)
    with pytest.raises(OutcomeUnknown):
        step(grant, content, progress)
    return progress


def stored(progress: Progress) -> Progress:
    """The progress as a database returns it."""
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
