"""A Facebook page, and what Facebook's own error codes mean.

Source of the codes: those of posting and of uploads that clients report, and developers.facebook.com,
video-api/reference/error-codes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from accounts.platforms.meta.errors import Kind, Product
from accounts.platforms.meta.graph import Graph, id_of, line
from accounts.platforms.types import Grant, Identity

SITE = "https://www.facebook.com"
FIELDS = "id,name,username,link,picture{url}"

_KINDS: dict[int, Kind] = {
    1346003: "content",  # against the community standards
    1404102: "content",
    1366046: "content",  # a photo of another form, or too large
    1366051: "content",  # the photos were posted already
    1609005: "content",  # the link cannot be read
    1609008: "content",  # a link to Facebook itself
    2061006: "content",  # no such address
    2069019: "content",  # the file is none
    1363022: "content",  # a video that is too small, too large, or none
    1363023: "content",
    1363031: "content",
    6000: "content",  # the video could not be uploaded
    1363042: "lost",  # no permission to upload here
    1404078: "lost",  # the page has to be authorized to publish
    4854002: "lost",  # its owner has to confirm who they are
    1390008: "quota",  # too fast
    1363019: "passing",
    1363030: "passing",
    1363033: "passing",
    1363047: "passing",
    1609010: "passing",
}
PRODUCT = Product("facebook", "Facebook", _KINDS)

_ADDRESS = re.compile(r"https://[\x21-\x7e]{1,2000}")
_PATH = re.compile(r"/[\x21-\x7e]{1,1000}")


@dataclass(frozen=True)
class Page:
    """A connected page: its id, and the API with its token. `video_graph` is the API's host for the videos of posts."""

    graph: Graph
    video_graph: Graph
    id: str

    @classmethod
    def of(cls, grant: Grant, address: str, video_address: str, secret: str) -> Page:
        """The page that a grant opens, at the API of these addresses."""
        graph = Graph(address, grant.tokens["access_token"], secret)
        return cls(graph, replace(graph, address=video_address), grant.external_id)


def identity_of(page: Mapping[str, Any]) -> Identity:
    """A page as Graph tells it by FIELDS. Raises UnreadableAnswer."""
    page_id, name, username = id_of(page), line(page.get("name")), line(page.get("username"))
    picture = page.get("picture")
    shown = picture.get("data", picture) if isinstance(picture, dict) else {}
    return Identity(
        external_id=page_id,
        handle=username or name or page_id,
        display_name=name,
        avatar_url=_address(shown.get("url") if isinstance(shown, dict) else None),
        profile_url=_address(page.get("link")) or f"{SITE}/{page_id}",
    )


def permalink(told: Any, object_id: str) -> str:
    """Where Facebook shows something, of which it may tell the path alone; else by the id, where it leads on from."""
    if isinstance(told, str) and _PATH.fullmatch(told) and not told.startswith("//"):
        return f"{SITE}{told}"
    return _address(told) or f"{SITE}/{object_id}"


def _address(value: Any) -> str:
    return value if isinstance(value, str) and _ADDRESS.fullmatch(value) else ""
