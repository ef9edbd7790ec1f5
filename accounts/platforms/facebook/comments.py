"""The first comment below a post of the page; the post is out and stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.facebook import lookup
from accounts.platforms.facebook.page import PRODUCT, Page
from accounts.platforms.meta.comments import comment
from accounts.platforms.types import OUT, Absent, CompleteList, Content, Published


def make(page: Page, content: Content, state: Mapping[str, Any]) -> Published:
    """Comment as the page. Raises platform errors, which are about the comment alone."""
    comment(PRODUCT, page.graph, state[OUT]["external_id"], content.options["first_comment"])
    return Published(**state[OUT])


def find(page: Page, content: Content, state: Mapping[str, Any]) -> Published | Absent:
    """The post, when an earlier try has made the comment; Absent when it has not. Raises as `lookup.find`."""
    if lookup.comment(page, content, state[OUT]):
        return Published(**state[OUT])
    return Absent(CompleteList("the first comment below the post", lookup.COMMENTS_ARE_LISTED))
