"""Connected Facebook pages: their clients, their identity, and the URLs of their posts.

Source: developers.facebook.com, pages-api/manage-pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.http.responses import fetchable_picture_url_or_empty, https_url_or_empty, object_or_empty, one_line
from accounts.platforms.meta.graph import Graph, GraphClientAndAccountId, id_of
from accounts.platforms.types import Identity

SITE = "https://www.facebook.com"
FIELDS = "id,name,username,link,picture{url}"  # fields of a page that are requested

_PATH = re.compile(r"/[\x21-\x7e]{1,1000}")


@dataclass(frozen=True)
class FacebookPageClient(GraphClientAndAccountId):
    """A connected Facebook page: its id, and the Graph API clients for posts and for videos (`video_graph`)."""

    video_graph: Graph


def identity_of(page: Mapping[str, Any]) -> Identity:
    """Return the identity of a Facebook page from its description in a response. Raises UnreadableAnswer."""
    page_id, name, username = id_of(page), one_line(page.get("name")), one_line(page.get("username"))
    picture = object_or_empty(page.get("picture"))
    return Identity(
        external_id=page_id,
        handle=username or name or page_id,
        display_name=name,
        avatar_url=fetchable_picture_url_or_empty(object_or_empty(picture.get("data", picture)).get("url")),
        profile_url=https_url_or_empty(page.get("link")) or f"{SITE}/{page_id}",
    )


def permalink_or_fallback(address: Any, path: str) -> str:
    """Return the URL of a Facebook page's post or story: the one in Facebook's response, or else `path` at facebook.com."""
    if isinstance(address, str) and _PATH.fullmatch(address) and not address.startswith("//"):
        return f"{SITE}{address}"
    return https_url_or_empty(address) or f"{SITE}/{path}"
