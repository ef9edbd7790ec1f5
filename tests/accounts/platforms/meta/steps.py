"""Shared steps of the tests of Meta's products: run a stand-in, connect accounts, publish as the engine does.

Each step begins with the state as a database returns it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pytest_django import Settings

from accounts.platforms.base import START, Platform
from accounts.platforms.types import AuthorizedAccount, Content, Grant, MediaFile, NotPublishedProof, Progress, Published
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer

REDIRECT_URI = "https://service.example/dashboard/connect/callback"
Server = TypeVar("Server", bound=FaultyServer)


@contextmanager
def running(server: Server, client: tuple[str, str], settings: Settings, **more: str) -> Iterator[Server]:
    """Run a stand-in with the operator's settings for it."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with server:
        named = {"CLIENT_ID": client[0], "CLIENT_SECRET": client[1], "API_BASE": server.url, "AUTH_BASE": server.url}
        settings.PLATFORM_SETTINGS = {f"{server.platform.upper()}_{key}": value for key, value in {**named, **more}.items()}
        yield server


def connect_all(platform: Platform, server: Any, *scopes: list[str]) -> tuple[AuthorizedAccount, ...]:
    """Connect the accounts of alice, who grants all requested scopes, or these scopes only."""
    authorization = platform.begin_oauth(state="state-1", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice", *scopes)
    return platform.exchange_code_for_accounts(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)


def connect(platform: Platform, server: Any, *scopes: list[str]) -> AuthorizedAccount:
    """Connect the one account of alice, like `connect_all`."""
    [connection] = connect_all(platform, server, *scopes)
    return connection


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """The content of a post with these media and options."""
    return Content("tgt_1", text, options, media=media)


def step(platform: Platform, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """Take one step of publishing; the default is the first one."""
    return platform.publish_step(grant, content, stored(progress))


def follow(platform: Platform, grant: Grant, content: Content, progress: Progress = START) -> Iterator[Progress]:
    """Take all steps of publishing; yields the progress before each."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        yield result
        result = step(platform, grant, content, result)


def go_to(phase: str, platform: Platform, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """Take all steps before `phase`; returns the progress before that step."""
    return next(each for each in follow(platform, grant, content, progress) if each.phase == phase)


def publish(platform: Platform, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps of publishing."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(platform, grant, content, result)
    return result


def find_post(
    platform: Platform, grant: Grant, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Search for the post that an earlier attempt of the step may have published."""
    return platform.find_or_rule_out_published_post(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database returns it."""
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))


def error(code: int, message: str = "no", subcode: int = 0, status: int = 400, **more: Any) -> Answer:
    """A response with Graph's error object."""
    content = {"message": message, "type": "OAuthException", "code": code, **more}
    return Answer.of_json({"error": content | ({"error_subcode": subcode} if subcode else {})}, status)
