"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from tests.fakes.facebook import FakeFacebook
from tests.fakes.http_server import Answer

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def connect(facebook: Facebook, server: FakeFacebook, scopes: list[str] | None = None) -> tuple[Connection, ...]:
    """The pages of alice, who agrees to what the service asks for, or to these permissions."""
    authorization = facebook.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice", scopes)
    return facebook.exchange(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)


def post(text: str = "Hello", *media: MediaFile, **options: str) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def step(facebook: Facebook, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return facebook.publish(grant, content, stored(progress))


def go_to(phase: str, facebook: Facebook, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(facebook, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(facebook: Facebook, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(facebook, grant, content, result)
    return result


def follow(facebook: Facebook, grant: Grant, content: Content, progress: Progress = START) -> Iterator[Progress]:
    """Every stage on the way to the end, the given one first."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        yield result
        result = step(facebook, grant, content, result)


def look(facebook: Facebook, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Look for what an earlier try of the step may have published."""
    return facebook.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))


def error(code: int, message: str = "no", subcode: int = 0, status: int = 400, **more: Any) -> Answer:
    """An answer with Graph's error object."""
    told = {"message": message, "type": "OAuthException", "code": code, **more}
    return Answer.of_json({"error": told | ({"error_subcode": subcode} if subcode else {})}, status)
