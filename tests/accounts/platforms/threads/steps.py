"""Posts for the tests of Threads: files that Threads can fetch, and threads of several segments."""

from __future__ import annotations

from typing import Any

from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Content, Grant, MediaFile, Progress
from tests.accounts.platforms.media_files import media_file
from tests.accounts.platforms.meta.steps import go_to, post, step
from tests.fakes.threads import FakeThreads


def hosted(server: FakeThreads, content: bytes, mime_type: str = "image/png", **details: Any) -> MediaFile:
    """A media file that Threads can fetch."""
    return media_file(content, mime_type, url=server.host(content), **details)


def chain(*texts: str) -> Content:
    """A thread of these segments."""
    return post(texts[0], thread=[{"text": text} for text in texts[1:]])


def after(sent: int, threads: Threads, grant: Grant, content: Content) -> Progress:
    """The progress before a segment is published, after `sent` segments."""
    progress = go_to("publish", threads, grant, content)
    while len(progress.segments) < sent:
        following = step(threads, grant, content, progress)
        assert isinstance(following, Progress)
        progress = go_to("publish", threads, grant, content, following)
    return progress
