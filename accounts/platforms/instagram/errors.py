"""Instagram's own error codes and their meanings, in addition to the error codes that all Meta products share.

Source: developers.facebook.com, instagram-graph-api/reference/error-codes; codes that it does not list are those that
clients report.
"""

from __future__ import annotations

from accounts.platforms.meta.errors import MetaErrorTranslator

EXPIRED_CONTAINER_CODES = frozenset({2207006, 2207008, 2207020})  # the container no longer exists, but can be created again
NOT_READY_CODE = 2207027
DAILY_LIMIT_CODE = 2207042


class InstagramErrorTranslator(MetaErrorTranslator):
    """The translation of Instagram's API errors into exceptions of type PlatformError."""

    name = "instagram"
    label = "Instagram"
    meanings = {
        **dict.fromkeys(EXPIRED_CONTAINER_CODES, "content"),
        **dict.fromkeys((2207001, 2207003, 2207032, 2207053, 2207076, 2207077, 2207082, NOT_READY_CODE), "transient"),
        2207052: "transient",  # the file could not be fetched, which may succeed later
        DAILY_LIMIT_CODE: "rate_limit",
        2207050: "permission",  # the account is restricted
        **dict.fromkeys((2207004, 2207005, 2207009, 2207010, 2207023, 2207026, 2207028, 2207051, 2207057), "content"),
        **dict.fromkeys((-1, -2, 9004, 9007), "transient"),
        9: "rate_limit",
        25: "permission",
        **dict.fromkeys((24, 352, 36000, 36001, 36003, 36004), "content"),
    }


ERRORS = InstagramErrorTranslator()
