"""Connecting Slack channels, and the steps of publishing to Slack, each from the stored state."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import AuthorizedAccount, Content, Grant, MediaFile, NotPublishedProof, Progress, Published
from tests.fakes.http_server import Answer
from tests.fakes.slack import FakeSlack

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def install(slack: Slack, server: FakeSlack) -> tuple[AuthorizedAccount, ...]:
    """Connect the channels of an installation of the Slack app."""
    authorization = slack.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url)
    return slack.exchange_code_for_accounts(
        code=code, redirect_uri=REDIRECT_URI, stored=json.loads(json.dumps(dict(authorization.stored)))
    )


def send(slack: Slack, grant: Grant, text: str = "Hello", **options: Any) -> Published:
    """Prepare a Slack message, then post it."""
    content = Content("tgt_1", text, options)
    progress = slack.publish_step(grant, content, START)
    assert progress == Progress("send")
    published = slack.publish_step(grant, content, progress)
    assert isinstance(published, Published)
    return published


def with_files(*files: MediaFile, text: str = "Hello", **options: Any) -> Content:
    """A Slack message with files."""
    return Content("tgt_1", text, options, media=files)


def step(slack: Slack, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """Take one step of publishing the message."""
    return slack.publish_step(grant, content, stored(progress))


def go_to(phase: str, slack: Slack, grant: Grant, content: Content) -> Progress:
    """Take all steps before `phase`."""
    progress = START
    while progress.phase != phase:
        following = step(slack, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(slack: Slack, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps of publishing the message."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(slack, grant, content, result)
    return result


def find(slack: Slack, grant: Grant, content: Content, progress: Progress) -> Progress | Published | NotPublishedProof:
    """Find the Slack message that an earlier attempt of the step may have posted."""
    return slack.find_or_rule_out_published_post(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as it is stored."""
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))


def refusal(code: str) -> Answer:
    """A refusal of a call by Slack's Web API."""
    return Answer.of_json({"ok": False, "error": code})
