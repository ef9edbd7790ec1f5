"""What callers do with post groups."""

from __future__ import annotations

from posts.services.cancel import cancel_post
from posts.services.create import create_post
from posts.services.retry import retry_post
from posts.services.validate import validate_post
from posts.services.wait import wait_until_finished

__all__ = ["cancel_post", "create_post", "retry_post", "validate_post", "wait_until_finished"]
