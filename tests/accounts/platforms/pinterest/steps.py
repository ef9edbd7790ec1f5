"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Connection, Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.pinterest import FakePinterest

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


def connect(pinterest: Pinterest, server: FakePinterest, scopes: list[str] | None = None) -> Connection:
    """Alice's account, who agrees to what the service asks for, or to these scopes."""
    authorization = pinterest.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice", scopes)
    [connection] = pinterest.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})
    return connection


def pin(*media: MediaFile, text: str = "Hello", **options: Any) -> Content:
    """What is to be published: an image on Recipes, unless it is said otherwise."""
    return Content("tgt_1", text, {"board": "Recipes", **options}, media=media or (media_file(picture()),))


def step(pinterest: Pinterest, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return pinterest.publish(grant, content, Progress(progress.phase, json.loads(json.dumps(progress.state))))


def go_to(phase: str, pinterest: Pinterest, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(pinterest, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(pinterest: Pinterest, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(pinterest, grant, content, result)
    return result
