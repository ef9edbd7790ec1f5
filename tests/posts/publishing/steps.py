"""Publishing one step at a time, so that a test can let the worker die between any two steps."""

from __future__ import annotations

from accounts.platforms.registry import publisher
from accounts.platforms.types import Content, Progress, Published
from config.jobs.due import claim_due
from posts.attached_media import adapter_media_files
from posts.models import PostTarget
from posts.publishing import engine, outcomes
from posts.publishing.attempts import begin_step, count_attempt


def take_up() -> PostTarget:
    """Claim the only due target, as a worker does."""
    [claimed] = claim_due(PostTarget.objects.select_related("group__workspace", "account"), limit=2, lease=engine.LEASE)
    return claimed


def begin(target: PostTarget) -> None:
    """Commit that the target's next step begins; a first step counts as an attempt."""
    if not target.phase:
        count_attempt(target)
    begin_step(target, Progress(target.phase, target.progress))


def do(target: PostTarget) -> Progress | Published:
    """Take the step that was begun; the result is not stored."""
    media = adapter_media_files(target.group)
    content = Content(target.id, target.shown_text, target.options, target.round_attempts, media)
    adapter = publisher(target.platform, sandbox=target.sandbox)
    return adapter.publish(target.account.grant(), content, Progress(target.phase, target.progress))


def take_first_step(target: PostTarget) -> None:
    """Take the preparing step and store its progress."""
    begin(target)
    progress = do(target)
    assert isinstance(progress, Progress)
    outcomes.advance(target, progress)
