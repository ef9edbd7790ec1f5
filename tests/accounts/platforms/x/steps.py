"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from accounts.platforms.x.adapter import X
from tests.fakes.x import FakeX

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def connect(x: X, server: FakeX, username: str = "alice", scopes: list[str] | None = None) -> Connection:
    """The account of a person who agrees to what the service asks for, or to these scopes."""
    authorization = x.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    stored = json.loads(json.dumps(dict(authorization.stored)))
    code = server.grant(authorization.url, username, scopes)
    [connection] = x.exchange(code=code, redirect_uri=REDIRECT_URI, stored=stored)
    return connection


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def thread(*texts: str) -> Content:
    """A thread of these segments."""
    return post(texts[0], thread=[{"text": text} for text in texts[1:]])


def step(x: X, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return x.publish(grant, content, stored(progress))


def go_to(phase: str, x: X, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(x, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(x: X, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(x, grant, content, result)
    return result


def look(x: X, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Look for what an earlier try of the step may have published."""
    return x.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))
