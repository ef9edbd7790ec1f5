"""Publishing one step at a time, so that a test can let the worker die between any two steps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from accounts.platforms.types import Progress, Published
from config.jobs.database_writer import DatabaseWriter
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates
from posts.attached_media import media_files_for_adapter
from posts.models import PostTarget
from posts.publishing.attempts import Attempt, claim_targets
from posts.publishing.decision import decide
from posts.publishing.decision_types import Decision, Fact, Wait
from posts.publishing.outcomes import ClaimLost, record_decision, write_step_beginnings_if_claims_valid
from posts.states import Certainty


def take_up() -> PostTarget:
    """Claim the only due target, as a worker does."""
    [claimed] = claim_targets(PostTarget.objects.all(), limit=2)
    return claimed


def begin(target: PostTarget) -> None:
    """Commit that the target's next step begins; a first step counts as an attempt."""
    attempt = Attempt.for_claimed_target(target, DatabaseWriter())
    if target.phase:
        attempt.worker_losses = target.worker_losses
    else:
        attempt.count_attempt_unless_continued()
    if not write_step_beginnings_if_claims_valid([attempt])[0]:
        raise ClaimLost


def do(target: PostTarget) -> Progress | Published:
    """Take the step that was begun; the result is not stored."""
    attempt = Attempt.for_claimed_target(target, DatabaseWriter())
    attempt.media = media_files_for_adapter(target.group)
    return attempt.adapter.publish_step(target.account.decrypted_grant(), attempt.content, attempt.progress)


def take_first_step(target: PostTarget) -> None:
    """Take the preparing step and store its progress."""
    begin(target)
    progress = do(target)
    assert isinstance(progress, Progress)
    done = {"phase": progress.phase, "progress": progress.to_stored(), "step_begun_at": None, "worker_losses": 0}
    done["certainty"] = Certainty.NOT_SENT
    assert apply_fenced_updates([FencedUpdate(target, done)]) == [True]


def record(target: PostTarget, decision: Decision) -> None:
    """Write a decision about a claimed target."""
    record_decision(Attempt.for_claimed_target(target, DatabaseWriter()), decision)


def await_platform(target: PostTarget, progress: Progress) -> None:
    """Store a target's progress and release its claim until the next step."""
    at = progress.ready_at or datetime.now(UTC)
    record(target, Wait(at, Certainty.NOT_SENT, replace(progress, ready_at=at)))


def finish(target: PostTarget, fact: Fact) -> None:
    """Write what the publisher decides after this fact, for a target without attempts left."""
    attempt = Attempt.for_claimed_target(target, DatabaseWriter())
    record_decision(
        attempt, decide(replace(attempt.state, certainty=Certainty.NOT_SENT, unanswered=False, attempts_left=False), fact)
    )
