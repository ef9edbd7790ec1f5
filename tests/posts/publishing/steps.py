"""A worker taken step by step, so that a test can let it die wherever it likes."""

from __future__ import annotations

from accounts.platforms.registry import publisher
from accounts.platforms.types import Content, Progress, Published
from config.jobs.due import claim_due
from posts.attached_media import adapter_media_files
from posts.models import PostTarget
from posts.publishing import engine, outcomes
from posts.publishing.attempts import begin_step, count_attempt


def take_up() -> PostTarget:
    """Claim the one target that is due, as a worker does."""
    [claimed] = claim_due(PostTarget.objects.select_related("group__workspace", "account"), limit=2, lease=engine.LEASE)
    return claimed


def begin(target: PostTarget) -> None:
    """Commit that the target's next step begins; the first one is an attempt."""
    if not target.phase:
        count_attempt(target)
    begin_step(target, Progress(target.phase, target.progress))


def do(target: PostTarget) -> Progress | Published:
    """Do the step that was begun; what came of it is in the worker's memory only."""
    media = adapter_media_files(target.group)
    content = Content(target.id, target.shown_text, target.options, target.round_attempts, media)
    adapter = publisher(target.platform, sandbox=target.sandbox)
    return adapter.publish(target.account.grant(), content, Progress(target.phase, target.progress))


def take_first_step(target: PostTarget) -> None:
    """Take the preparing step and store where that led."""
    begin(target)
    progress = do(target)
    assert isinstance(progress, Progress)
    outcomes.advance(target, progress)
