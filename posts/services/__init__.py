"""Services that create, change, publish and cancel post groups."""

from __future__ import annotations

from posts.services.cancel import cancel_post
from posts.services.create import create_batch, create_post, validate_post
from posts.services.missed import retry_missed_posts
from posts.services.queue import update_queue
from posts.services.resolve import resolve_unconfirmed_target
from posts.services.retry import retry_post
from posts.services.review import confirm_post, reject_post, request_approval
from posts.services.stored_plans import (
    commit_stored_plan,
    delete_open_plans_of_dashboard_page,
    get_stored_plan,
    make_and_store_plan,
)
from posts.services.update import update_post
from posts.services.wait import wait_until_finished

__all__ = [
    "cancel_post",
    "commit_stored_plan",
    "confirm_post",
    "create_batch",
    "create_post",
    "delete_open_plans_of_dashboard_page",
    "get_stored_plan",
    "make_and_store_plan",
    "reject_post",
    "request_approval",
    "resolve_unconfirmed_target",
    "retry_missed_posts",
    "retry_post",
    "update_post",
    "update_queue",
    "validate_post",
    "wait_until_finished",
]
