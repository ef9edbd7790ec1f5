"""Refusals of posts."""

from __future__ import annotations

from config.api.errors import ApiError


class ContentInvalid(ApiError):
    """`details` are the issues of POST /posts/validate whose severity is error."""

    status, code = 422, "CONTENT_INVALID"
    message = "The content does not fit all of its targets; details names each issue and how to repair it."
    suggested_action = (
        "Apply the repair_hint of each issue, or change the content; POST /posts/validate checks it again."
    )
    auto_fixable = True
