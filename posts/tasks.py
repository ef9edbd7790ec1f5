"""Celery tasks for posts, such as cancelling the posts of deleted workspaces."""

from __future__ import annotations

from celery import shared_task

from posts.services.cancel import cancel_posts_of_deleted_workspaces


@shared_task
def cancel_posts_of_deleted() -> int:
    """Celery task that cancels the unfinished posts of deleted workspaces."""
    return cancel_posts_of_deleted_workspaces()
