"""Finds rows for the console's search box: by an e-mail address, a name, a handle, a key's prefix or words of a post's text.

Names and texts have no index. Each table is therefore read from its newest row back, and only so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet

from accounts.models import ConnectedAccount
from agents.models import ApiKey
from config.api.paging import paginate_with_scan_limit
from config.pages.admin_search import search_word_kind
from posts.models import PostGroup
from workspaces.models import User, Workspace

MAX_OF_A_KIND = 10
MAX_SEARCHED_ROWS = 100_000  # of users, workspaces, accounts and keys: their rows are short
MAX_SEARCHED_TEXTS = 10_000
KEY_PREFIX = "sps_"


VisibleRowsOfModel = Callable[[type[Model]], QuerySet[Any]]


@dataclass(frozen=True)
class FoundRows:
    """The rows of one kind that the console's search found: at most ten, newest first.

    `incomplete`: there are more, or older rows were not searched.
    """

    model: type[Model]
    rows: list[Any]
    incomplete: bool


def find_rows(words: str, visible_rows_of: VisibleRowsOfModel) -> list[FoundRows]:
    """Return the rows that the console's search finds by words, by kind: users, workspaces, accounts, posts, key prefixes.

    With `wrk_` ids among the words, only the texts of these workspaces are searched. Without words, nothing is found.
    `visible_rows_of` returns the rows of a model that the operator may see.
    """
    if words.startswith(KEY_PREFIX):
        prefix = words[: ApiKey._meta.get_field("prefix").max_length]  # the rest of a pasted key is a secret
        return [_newest(visible_rows_of(ApiKey), Q(prefix__startswith=prefix), MAX_SEARCHED_ROWS)]
    workspace_ids = [word for word in words.split() if search_word_kind(word) == "wrk"]
    text = " ".join(word for word in words.split() if word not in workspace_ids)
    if not text:
        return []
    posts, wanted_posts = visible_rows_of(PostGroup), Q(text__icontains=text)
    if workspace_ids:
        return [_newest(posts.filter(workspace_id__in=workspace_ids), wanted_posts, MAX_SEARCHED_TEXTS)]
    people = Q(email__icontains=text) | Q(username__icontains=text) | Q(display_name__icontains=text)
    return [
        _newest(visible_rows_of(User), people, MAX_SEARCHED_ROWS),
        _newest(visible_rows_of(Workspace), Q(name__icontains=text) | Q(slug__icontains=text), MAX_SEARCHED_ROWS),
        _newest(visible_rows_of(ConnectedAccount), Q(handle__icontains=text.removeprefix("@")), MAX_SEARCHED_ROWS),
        _newest(posts, wanted_posts, MAX_SEARCHED_TEXTS),
    ]


def _newest(rows: QuerySet[Any], wanted: Q, span: int) -> FoundRows:
    page = paginate_with_scan_limit(rows, wanted=wanted, span=span, limit=MAX_OF_A_KIND)
    return FoundRows(rows.model, page.rows, page.next_cursor is not None)
