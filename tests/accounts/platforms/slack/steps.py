"""Connecting, and the two steps of a publication, as the service takes them."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.types import Connection, Content, Grant, Progress, Published
from tests.fakes.slack import FakeSlack

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def install(slack: Slack, server: FakeSlack, scopes: list[str] | None = None) -> tuple[Connection, ...]:
    """The channels of an installation with what the service asks for, or with these scopes."""
    authorization = slack.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, scopes)
    return slack.exchange(code=code, redirect_uri=REDIRECT_URI, kept=json.loads(json.dumps(dict(authorization.kept))))


def send(slack: Slack, grant: Grant, text: str = "Hello", **options: Any) -> Published:
    """Prepare, then post."""
    content = Content("tgt_1", text, options)
    progress = slack.publish(grant, content, START)
    assert progress == Progress("send")
    published = slack.publish(grant, content, progress)
    assert isinstance(published, Published)
    return published
