"""API errors of posts."""

from __future__ import annotations

from config.api.errors import ApiError


class ContentInvalid(ApiError):
    """The post's content breaks a platform's rules. `details` are the validation issues with severity `error`."""

    status, code = 422, "CONTENT_INVALID"
    message = "The content is not valid for all of its targets; details lists each issue and how to repair it."
    suggested_action = (
        "Apply the repair_hint of each issue, or change the content. POST /posts/validate checks it again."
    )
    auto_fixable = True
