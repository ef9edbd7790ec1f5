"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Connection, Content, Grant, MediaFile, Progress, Published
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn

REDIRECT_URI = "https://service.example/dashboard/connect/callback"
MEMBER, PAGE = "urn:li:person:m0-X_z", "urn:li:organization:2414183"


def connect(
    linkedin: LinkedIn, server: FakeLinkedIn, kind: str = "", name: str = "Alice", scopes: Iterable[str] | None = None
) -> tuple[Connection, ...]:
    """The accounts of a person who chooses this kind (or none) and agrees to what is asked for, or to these scopes."""
    given = {"kind": kind} if kind else {}
    authorization = linkedin.authorize(state="state-1", redirect_uri=REDIRECT_URI, given=given)
    code = server.grant(authorization.url, name, scopes)
    return linkedin.exchange(
        code=code, redirect_uri=REDIRECT_URI, stored=json.loads(json.dumps(dict(authorization.stored)))
    )


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def step(linkedin: LinkedIn, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return linkedin.publish(grant, content, Progress(progress.phase, json.loads(json.dumps(progress.state))))


def go_to(phase: str, linkedin: LinkedIn, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(linkedin, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(linkedin: LinkedIn, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(linkedin, grant, content, result)
    return result


def error(status: int, message: str = "no", code: str = "", **more: Any) -> Answer:
    """A refusal as LinkedIn words it."""
    return Answer.of_json({"status": status, "message": message, **({"code": code} if code else {}), **more}, status)
