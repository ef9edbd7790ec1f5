"""Waiting until a post group is finished, for API requests that set `wait: true`."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, Q
from django.utils import timezone

from config.api.request_limits import WebThreadLimit
from posts import selectors
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED_GROUP_STATUSES, UNFINISHED_TARGET_STATUSES, GroupStatus

POLL_SECONDS = 0.1
UNAPPROVED_GROUP_STATUSES = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION)
# At most half of the process's threads wait; further requests are answered at once.
waiting_thread_limit = WebThreadLimit(settings.WEB_THREADS // 2)
_stopping = threading.Event()


def end_waits_at_shutdown() -> None:
    """Let all API requests that wait for a post to be finished return now, because the server process is stopping.

    The requests return the current state of their post groups.
    """
    _stopping.set()


def wait_until_finished(post_group_id: str) -> PostGroup:
    """Wait until a post group is finished, at most WAIT_SECONDS, and return the group.

    Does not wait if too many requests wait already.
    """
    if waiting_thread_limit.try_acquire_thread():
        try:
            _poll_until_finished(post_group_id, time.monotonic() + settings.WAIT_SECONDS)
        finally:
            waiting_thread_limit.release_thread()
    return selectors.groups_prefetching_targets().get(pk=post_group_id)


def _poll_until_finished(post_group_id: str, deadline: float) -> None:
    # Targets that are scheduled for later are not waited for.
    soon = Q(scheduled_at=None) | Q(scheduled_at__lte=timezone.now() + timedelta(seconds=settings.WAIT_SECONDS))
    awaited = PostTarget.objects.filter(soon, group=post_group_id, status__in=UNFINISHED_TARGET_STATUSES)
    wait_over = PostGroup.objects.filter(
        Q(status__in=(*FINISHED_GROUP_STATUSES, *UNAPPROVED_GROUP_STATUSES)) | ~Exists(awaited), pk=post_group_id
    )
    while time.monotonic() < deadline and not _stopping.is_set():
        if wait_over.exists():
            return
        _stopping.wait(POLL_SECONDS)
