"""Celery tasks for posts, such as cancelling the posts of deleted workspaces."""

from __future__ import annotations

from celery import shared_task

from posts.services import cancel


@shared_task(name="posts.tasks.cancel_posts_of_deleted")
def cancel_posts_of_deleted_workspaces() -> int:
    """Celery task that cancels the unfinished posts of deleted workspaces."""
    return cancel.cancel_posts_of_deleted_workspaces()
