"""One account and its adapter, used as the engine uses them: each step starts from the state as a database returns it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from accounts.platforms.base import START, Platform
from accounts.platforms.types import Content, Grant, MediaFile, NotPublishedProof, Progress, Published


@dataclass
class Account:
    """A grant with the adapter of its platform."""

    adapter: Platform
    grant: Grant

    def step(self, content: Content, progress: Progress = START) -> Progress | Published:
        """Take one step."""
        return self.adapter.publish_step(self.grant, content, _stored(progress))

    def next(self, content: Content, progress: Progress = START) -> Progress:
        """Take one step that is not the last one."""
        following = self.step(content, progress)
        assert isinstance(following, Progress)
        return following

    def go_to(self, phase: str, content: Content, progress: Progress = START) -> Progress:
        """Take all steps before `phase`."""
        while progress.phase != phase:
            progress = self.next(content, progress)
        return progress

    def publish(self, content: Content, progress: Progress = START) -> Published:
        """Take all steps."""
        result: Progress | Published = progress
        while isinstance(result, Progress):
            result = self.step(content, result)
        return result

    def find(self, content: Content, progress: Progress) -> Progress | Published | NotPublishedProof:
        """Find the post that an earlier attempt of the step may have published."""
        return self.adapter.find_or_rule_out_published_post(self.grant, content, _stored(progress))


def bytes_of(file: MediaFile) -> bytes:
    """The content of a media file."""
    with file.open() as opened:
        return opened.read()


def _stored(progress: Progress) -> Progress:
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
