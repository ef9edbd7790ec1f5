"""API errors of post requests, such as content that breaks a platform's rules."""

from __future__ import annotations

from config.api.errors import ApiError


class ContentInvalid(ApiError):
    """API error for a post whose content breaks a platform's rules; `details` are its validation issues."""

    status, code = 422, "CONTENT_INVALID"
    message = "The content is not valid for all of its targets; details lists each issue and how to repair it."
    suggested_action = "Apply the repair_hint of each issue, or change the content. POST /posts/validate checks it again."
    auto_fixable = True
