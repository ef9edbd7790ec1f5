"""Connecting, and the steps of a publication, each from the state as it is stored."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from tests.fakes.http_server import Answer
from tests.fakes.slack import FakeSlack

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def install(slack: Slack, server: FakeSlack) -> tuple[Connection, ...]:
    """The channels of an installation."""
    authorization = slack.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url)
    return slack.exchange(
        code=code, redirect_uri=REDIRECT_URI, stored=json.loads(json.dumps(dict(authorization.stored)))
    )


def send(slack: Slack, grant: Grant, text: str = "Hello", **options: Any) -> Published:
    """Prepare, then post."""
    content = Content("tgt_1", text, options)
    progress = slack.publish(grant, content, START)
    assert progress == Progress("send")
    published = slack.publish(grant, content, progress)
    assert isinstance(published, Published)
    return published


def with_files(*files: MediaFile, text: str = "Hello", **options: Any) -> Content:
    """A message with files."""
    return Content("tgt_1", text, options, media=files)


def step(slack: Slack, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return slack.publish(grant, content, stored(progress))


def go_to(phase: str, slack: Slack, grant: Grant, content: Content) -> Progress:
    """All steps before `phase`."""
    progress = START
    while progress.phase != phase:
        following = step(slack, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(slack: Slack, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(slack, grant, content, result)
    return result


def find(slack: Slack, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Find what an earlier attempt of the step may have posted."""
    return slack.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as it is stored."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))


def refusal(code: str) -> Answer:
    """How the Web API refuses a call."""
    return Answer.of_json({"ok": False, "error": code})
