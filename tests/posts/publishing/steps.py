"""Publishing one step at a time, so that a test can let the worker die between any two steps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from accounts.platforms.registry import publishing_adapter
from accounts.platforms.types import Content, Progress, Published
from config.jobs.due import claim_due
from config.jobs.fenced_updates import FencedUpdate, update_rows
from posts.attached_media import adapter_media_files
from posts.models import PostTarget
from posts.publishing import engine, outcomes
from posts.publishing.attempts import begin_step, count_attempt
from posts.publishing.decision import decide
from posts.publishing.decision_types import AwaitPlatform, Fact
from posts.publishing.preconditions import target_state_of


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
    adapter = publishing_adapter(target.platform, sandbox=target.sandbox)
    return adapter.publish(target.account.grant(), content, Progress(target.phase, target.progress))


def take_first_step(target: PostTarget) -> None:
    """Take the preparing step and store its progress."""
    begin(target)
    progress = do(target)
    assert isinstance(progress, Progress)
    done = {"phase": progress.phase, "progress": dict(progress.state), "step_begun_at": None, "worker_losses": 0}
    assert update_rows([FencedUpdate(target, done)]) == [True]


def await_platform(target: PostTarget, progress: Progress) -> None:
    """Store a target's progress and release its claim until the next step."""
    waiting = replace(progress, ready_at=progress.ready_at or datetime.now(UTC))
    outcomes.record_decision(target, AwaitPlatform(waiting, maybe_sent=False))


def finish(target: PostTarget, fact: Fact) -> None:
    """Write what the publisher decides after this fact, for a target without attempts left."""
    adapter = publishing_adapter(target.platform, sandbox=target.sandbox)
    state = target_state_of(target, adapter, target.publishing_progress, unanswered=target.step_begun_at is not None)
    outcomes.record_decision(target, decide(replace(state, attempts_left=False), fact))
