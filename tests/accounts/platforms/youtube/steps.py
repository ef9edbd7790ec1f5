"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.media_files import MP4, media_file
from tests.fakes.youtube import FakeYouTube

REDIRECT_URI = "https://service.example/dashboard/connect/callback"
MIB = 1024 * 1024


def connect(
    youtube: YouTube, server: FakeYouTube, person: str = "alice", scopes: list[str] | None = None
) -> tuple[Connection, ...]:
    """The channels of a person who agrees to what the service asks for, or ticks these scopes."""
    authorization = youtube.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    stored = json.loads(json.dumps(dict(authorization.stored)))
    code = server.grant(authorization.url, person, scopes)
    return youtube.exchange(code=code, redirect_uri=REDIRECT_URI, stored=stored)


def video(mebibytes: int = 0) -> MediaFile:
    """A video of so many mebibytes, each of other bytes, and a little more."""
    content = b"".join(bytes([number % 251]) * MIB for number in range(mebibytes)) + MP4
    return media_file(content, "video/mp4")


def bytes_of(file: MediaFile) -> bytes:
    with file.open() as opened:
        return opened.read()


def post(text: str = "Hello", file: MediaFile | None = None, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=(file or video(),))


def step(youtube: YouTube, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return youtube.publish(grant, content, stored(progress))


def go_to(phase: str, youtube: YouTube, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(youtube, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(youtube: YouTube, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(youtube, grant, content, result)
    return result


def look(youtube: YouTube, grant: Grant, content: Content, progress: Progress) -> Progress | Absent:
    """Look for what an earlier try of the step may have published."""
    return youtube.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))
