"""The publishing worker in the calling thread, so that a test sees each effect of the production loop in order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from typing import Any

from django.db.models import Sum

from config.jobs.due import unclaimed_due_rows
from config.jobs.store import Store
from posts.models import PostTarget
from posts.publishing.engine import begin_attempts, continue_attempt
from posts.publishing.worker_loop import PublishLoop

MAX_RUNS = 50


class InlinePool(Executor):
    """Runs each call at once, in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(copy_context().run(fn, *args, **kwargs))
        return done


def run_until_idle(store: Store | None = None) -> int:
    """Run the publishing loop until no unclaimed target is due; returns the number of claims that it made."""
    loop, before = PublishLoop(InlinePool(), store or Store()), _claims()
    for _ in range(MAX_RUNS):
        if not unclaimed_due_rows(PostTarget.objects.all()).exists():
            return _claims() - before
        loop.run_once()
    raise AssertionError(f"There are still due targets after {MAX_RUNS} runs.")


def publish_claimed(target: PostTarget) -> None:
    """Publish a target as the worker that has claimed it."""
    for attempt in begin_attempts([target], Store()):
        continue_attempt(attempt)


def _claims() -> int:
    """The number of all claims ever made, which the targets' fences count."""
    return int(PostTarget.objects.aggregate(claims=Sum("fence"))["claims"] or 0)
