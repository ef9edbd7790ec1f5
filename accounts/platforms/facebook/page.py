"""Facebook pages, and the meaning of Facebook's own error codes.

Source of the codes: those of posting and of uploads that clients report, and developers.facebook.com,
video-api/reference/error-codes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.http.responses import as_object, https_url, one_line
from accounts.platforms.meta.errors import MetaErrors
from accounts.platforms.meta.graph import Account, Graph, id_of
from accounts.platforms.types import Identity

SITE = "https://www.facebook.com"
FIELDS = "id,name,username,link,picture{url}"  # fields of a page that are requested

_PATH = re.compile(r"/[\x21-\x7e]{1,1000}")


class FacebookErrors(MetaErrors):
    """Translates Facebook's errors."""

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
        1363022: "content",  # a video that is too small, too large, or not a video
        1363023: "content",
        1363031: "content",
        6000: "content",  # the video could not be uploaded
        1363042: "permission",  # not allowed to upload here
        1404078: "permission",  # the page has to be authorized to publish
        4854002: "permission",  # its owner has to confirm who they are
        1390008: "rate_limit",  # posting too fast
        1363019: "transient",
        1363030: "transient",
        1363033: "transient",
        1363047: "transient",
        1609010: "transient",
    }


ERRORS = FacebookErrors()


@dataclass(frozen=True)
class Page(Account):
    """A connected Facebook page; `video_graph` is the API's host for the videos of posts."""

    video_graph: Graph


def identity_of(page: Mapping[str, Any]) -> Identity:
    """The identity of a Facebook page, from the fields FIELDS. Raises UnreadableAnswer."""
    page_id, name, username = id_of(page), one_line(page.get("name")), one_line(page.get("username"))
    picture = as_object(page.get("picture"))
    return Identity(
        external_id=page_id,
        handle=username or name or page_id,
        display_name=name,
        avatar_url=https_url(as_object(picture.get("data", picture)).get("url")),
        profile_url=https_url(page.get("link")) or f"{SITE}/{page_id}",
    )


def permalink(address: Any, path: str) -> str:
    """The URL at which Facebook shows a post: from the address that Facebook gave, otherwise from `path`."""
    if isinstance(address, str) and _PATH.fullmatch(address) and not address.startswith("//"):
        return f"{SITE}{address}"
    return https_url(address) or f"{SITE}/{path}"
