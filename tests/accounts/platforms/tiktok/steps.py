"""Connecting, and the steps of a publication as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.types import Absent, Connection, Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.tiktok import FakeTikTok

REDIRECT_URI = "https://service.example/dashboard/connect/callback"
PREFIX = "https://media.service.example/files/"


def connect(tiktok: TikTok, server: FakeTikTok, name: str = "alice", scopes: list[str] | None = None) -> Connection:
    """The account of a creator who agrees to what the service asks for, or to these scopes."""
    authorization = tiktok.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})
    stored = json.loads(json.dumps(dict(authorization.stored)))
    code = server.grant(authorization.url, name, scopes)
    [connection] = tiktok.exchange(code=code, redirect_uri=REDIRECT_URI, stored=stored)
    return connection


def video(megabytes: int = 0, **facts: Any) -> MediaFile:
    """A video of so many million bytes, each million of other ones, and a little more."""
    content = b"".join(bytes([number % 251]) * 1_000_000 for number in range(megabytes)) + MP4
    return media_file(content, "video/mp4", **facts)


def photo(name: str, prefix: str = PREFIX) -> MediaFile:
    """A photo with a public address."""
    return media_file(picture(form="JPEG"), "image/jpeg", url=f"{prefix}{name}.jpg?form=direct")


def bytes_of(file: MediaFile) -> bytes:
    with file.open() as opened:
        return opened.read()


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published: a short video for everybody where nothing else is said."""
    return Content("tgt_1", text, {"privacy_level": "PUBLIC_TO_EVERYONE", **options}, media=media or (video(),))


def step(tiktok: TikTok, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return tiktok.publish(grant, content, stored(progress))


def go_to(phase: str, tiktok: TikTok, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(tiktok, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(tiktok: TikTok, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(tiktok, grant, content, result)
    return result


def look(tiktok: TikTok, grant: Grant, content: Content, progress: Progress) -> Progress | Absent:
    """Look for what an earlier try of the step may have published."""
    return tiktok.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))
