"""The publishing worker in the calling thread, so that a test sees each effect of the production loop in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import Sum

from config.jobs.claims import unclaimed_due_rows
from config.jobs.database_writer import DatabaseWriter, WriteAll
from posts.models import PostTarget
from posts.publishing.engine import begin_attempts, continue_attempt
from posts.publishing.worker_loop import PublishLoop

MAX_RUNS = 50
Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerKilled(BaseException):
    """The worker dies here: nothing after this is done, and no error is handled."""


class DyingWriter(DatabaseWriter):
    """A writer whose worker dies at one of its writes, counted from 0: before it is committed, or after that.

    Before a write, the step that the attempt has taken is done, but nobody knows its result. After a write, the next step is
    begun, but the platform has not been called.
    """

    def __init__(self, number: int, *, committed: bool) -> None:
        self._left, self._committed = number, committed

    def write(self, write_all: WriteAll[Item, Result], item: Item) -> Result:
        return self._until_death(lambda: super(DyingWriter, self).write(write_all, item))

    def write_in_this_thread(self, write_all: WriteAll[Item, Result], items: Sequence[Item]) -> Sequence[Result | Exception]:
        return self._until_death(lambda: super(DyingWriter, self).write_in_this_thread(write_all, items)) if items else ()

    def _until_death(self, write: Callable[[], Any]) -> Any:
        self._left -= 1
        if self._left >= 0:
            return write()
        if self._committed:
            write()
        raise WorkerKilled


class InlinePool(Executor):
    """Runs each call at once, in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(copy_context().run(fn, *args, **kwargs))
        return done


def run_until_idle(writer: DatabaseWriter | None = None) -> int:
    """Run the publishing loop until no unclaimed target is due; returns the number of claims that it made."""
    loop, before = PublishLoop(InlinePool(), writer or DatabaseWriter()), _claims()
    for _ in range(MAX_RUNS):
        if not unclaimed_due_rows(PostTarget.objects.all()).exists():
            return _claims() - before
        loop.run_once()
    raise AssertionError(f"There are still due targets after {MAX_RUNS} runs.")


def killed_at_write(number: int, clock: Any, *, committed: bool) -> bool:
    """Run a worker that dies at one of its writes; False if it publishes the post before it comes to that."""
    writer = DyingWriter(number, committed=committed)
    while due := PostTarget.objects.filter(due_at__isnull=False).first():
        assert due.due_at is not None
        clock.move_to(max(due.due_at, datetime.now(UTC)))
        try:
            run_until_idle(writer)
        except WorkerKilled:
            return True
    return False


def publish_claimed(target: PostTarget) -> None:
    """Publish a target as the worker that has claimed it."""
    for attempt in begin_attempts([target], DatabaseWriter()):
        continue_attempt(attempt)


def _claims() -> int:
    """The number of all claims ever made, which the targets' fences count."""
    return int(PostTarget.objects.aggregate(claims=Sum("fence"))["claims"] or 0)
