"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.instagram import FakeInstagram

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def connect(instagram: Instagram, server: FakeInstagram, scopes: list[str] | None = None) -> Connection:
    """The account of alice, who agrees to what the service asks for, or to these scopes."""
    authorization = instagram.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice", scopes)
    [connection] = instagram.exchange(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)
    return connection


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def image(server: FakeInstagram, colour: str = "teal", alt_text: str = "") -> MediaFile:
    """A picture that Instagram can fetch."""
    content = picture(form="JPEG", colour=colour)
    return media_file(content, "image/jpeg", url=server.serve(content), alt_text=alt_text)


def video(server: FakeInstagram, duration_ms: int = 10_000) -> MediaFile:
    """A video that Instagram can fetch."""
    return media_file(MP4, "video/mp4", url=server.serve(MP4), duration_ms=duration_ms)


def step(instagram: Instagram, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return instagram.publish(grant, content, stored(progress))


def go_to(phase: str, instagram: Instagram, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(instagram, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(instagram: Instagram, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(instagram, grant, content, result)
    return result


def follow(instagram: Instagram, grant: Grant, content: Content, progress: Progress = START) -> Iterator[Progress]:
    """Every stage on the way to the end, the given one first."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        yield result
        result = step(instagram, grant, content, result)


def look(instagram: Instagram, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Look for what an earlier try of the step may have published."""
    return instagram.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))


def error(code: int, message: str = "no", subcode: int = 0, status: int = 400, **more: Any) -> Answer:
    """An answer with Graph's error object."""
    told = {"message": message, "type": "OAuthException", "code": code, **more}
    return Answer.of_json({"error": told | ({"error_subcode": subcode} if subcode else {})}, status)
