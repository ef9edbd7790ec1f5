"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import media_file
from tests.fakes.threads import FakeThreads

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def connect(threads: Threads, server: FakeThreads, username: str = "alice") -> Connection:
    """The profile of a person who agrees to what the service asks for."""
    authorization = threads.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, username)
    [connection] = threads.exchange(code=code, redirect_uri=REDIRECT_URI, stored=dict(authorization.stored))
    return connection


def hosted(server: FakeThreads, content: bytes, mime_type: str = "image/png", **facts: Any) -> MediaFile:
    """A media file that Threads can fetch."""
    return media_file(content, mime_type, url=server.host(content), **facts)


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def chain(*texts: str) -> Content:
    """A thread of these segments."""
    return post(texts[0], thread=[{"text": text} for text in texts[1:]])


def step(threads: Threads, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return threads.publish(grant, content, stored(progress))


def go_to(phase: str, threads: Threads, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(threads, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def after(sent: int, threads: Threads, grant: Grant, content: Content) -> Progress:
    """The progress to the publishing of a segment, once so many are out."""
    progress = go_to("publish", threads, grant, content)
    while len(progress.state["sent"]) < sent:
        following = step(threads, grant, content, progress)
        assert isinstance(following, Progress)
        progress = go_to("publish", threads, grant, content, following)
    return progress


def publish(threads: Threads, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(threads, grant, content, result)
    return result


def look(threads: Threads, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Look for what an earlier try of the step may have published."""
    return threads.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))
