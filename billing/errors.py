"""The refusals of billing: one class for each cap, raised with the numbers by billing/caps.py.

ApiError
├── SpendCapExceeded 402
├── SocialUrlPostCapExceeded 403
└── PostsPerDayCapExceeded 429
"""

from __future__ import annotations

from config.api.errors import ApiError


class SpendCapExceeded(ApiError):
    status, code = 402, "SPEND_CAP_EXCEEDED"
    message = "The monthly spend cap is exceeded."
    suggested_action = "Ask the owner of the workspace for a higher spend cap, or post in another month."


class SocialUrlPostCapExceeded(ApiError):
    status, code = 403, "SOCIAL_URL_POST_CAP_EXCEEDED"
    message = "The monthly cap on posts with URLs is exceeded."
    suggested_action = "Take the URLs out of the text, or ask the owner of the workspace for a higher cap."


class PostsPerDayCapExceeded(ApiError):
    """Always with `Retry-After`: the seconds until the day that is full has ended."""

    status, code = 429, "POSTS_PER_DAY_CAP_EXCEEDED"
    message = "This agent may not post to so many targets in one day."
    suggested_action = "Wait for the time in Retry-After, or schedule for another day (UTC)."
    auto_fixable = True
