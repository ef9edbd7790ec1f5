"""Facebook's own error codes and their meanings, in addition to the error codes that all Meta products share.

Source: developers.facebook.com, video-api/reference/error-codes; the other codes are those of posting and of uploads that
clients report.
"""

from __future__ import annotations

from accounts.platforms.meta.errors import MetaErrorTranslator


class FacebookErrorTranslator(MetaErrorTranslator):
    """The translation of Graph API errors about Facebook pages into exceptions of type PlatformError."""

    name = "facebook"
    label = "Facebook"
    meanings = {
        1346003: "content",  # against the community standards
        1404102: "content",
        1366046: "content",  # a photo of another format, or too large
        1366051: "content",  # the photos were posted already
        1609005: "content",  # the link cannot be read
        1609008: "content",  # a link to Facebook itself
        2061006: "content",  # not a URL
        2069019: "content",  # not a media file
        **dict.fromkeys((1363022, 1363023, 1363031), "content"),  # a video that is too small, too large, or not a video
        6000: "content",  # the video could not be uploaded
        1363042: "permission",  # not allowed to upload here
        1404078: "permission",  # the page has to be authorized to publish
        4854002: "permission",  # its owner has to confirm who they are
        1390008: "rate_limit",  # posting too fast
        **dict.fromkeys((1363019, 1363030, 1363033, 1363047, 1609010), "transient"),
    }


ERRORS = FacebookErrorTranslator()
