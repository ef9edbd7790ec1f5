"""Finds duplicates: earlier posts with the same content for the same account."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.polls import poll_choices_in_options
from accounts.platforms.thread_option import texts_after_first_segment
from config.db.fast_read import in_list_condition, list_parameter, quoted_column, read_rows
from config.db.fixed_select import FixedSelect
from posts.content import PostInput
from posts.models import PostGroup, PostTarget
from posts.states import UNRELEASED_GROUP_STATUSES, TargetStatus

SAME_CONTENT_WINDOW = timedelta(hours=24)
UNSENT_TARGET_STATUSES = (TargetStatus.FAILED, TargetStatus.CANCELLED)
ContentKey = tuple[str, str, bool]  # of a post target: account id, hash of its content, whether it is simulated


def content_sha256(text: str, options: Mapping[str, Any], media_ids: Iterable[str]) -> str:
    """Return the hash of the texts, poll choices and media ids of a post target, which is equal for duplicates."""
    shown = [text, *texts_after_first_segment(options), *poll_choices_in_options(options), *media_ids]
    return hashlib.sha256("\0".join(shown).encode()).hexdigest()


def content_hashes(post: PostInput) -> set[str]:
    """Return the content hashes of the targets of a post to write. Targets without text and media have no duplicates."""
    media_ids = [each.media_id for each in post.media]
    texts = [(post.text if target.text is None else target.text, target.options) for target in post.targets]
    return {content_sha256(text, options, media_ids) for text, options in texts if text or media_ids}


def duplicate_group_id_by_content(contents: Iterable[ContentKey], *, ignored_group_id: str = "") -> dict[ContentKey, str]:
    """Find posts with these contents that were sent to the same accounts within the last 24 hours.

    The result maps the content to the id of the earlier group. The group `ignored_group_id` is ignored.
    """
    wanted = set(contents)
    if not wanted:
        return {}
    accounts, hashes = {account for account, _, _ in wanted}, {content for _, content, _ in wanted}
    [(sent,)] = read_rows(_sent_contents_sql(), _sent_contents_values(accounts, hashes), [])
    return _released_duplicates(sent, ignored_group_id)


def find_accounts_and_duplicates(
    workspace_id: str, account_ids: Iterable[str], hashes: Iterable[str], *, ignored_group_id: str = ""
) -> tuple[dict[str, ConnectedAccount], dict[ContentKey, str]]:
    """Find, in one query, accounts of a workspace by id and earlier posts whose content has one of the given hashes.

    The duplicates are those of `duplicate_group_id_by_content` for each account with each hash. Each account has its
    workspace loaded.
    """
    ids = list(account_ids)
    accounts, sent = _accounts.rows_and_subquery_value(*_sent_contents_values(ids, hashes), workspace_id, ids)
    return {account.id: account for account in accounts}, _released_duplicates(sent, ignored_group_id)


@cache
def _sent_contents_sql() -> str:
    """Return the query for duplicates: the recent targets with these contents, oldest first, as one JSON list.

    It has no join: PostgreSQL plans it for each post, since the number of accounts varies, and a join doubles that time.
    """
    names = ("account_id", "content_sha256", "created_at", "sandbox", "group_id", "status")
    account, content, created_at, *others = (quoted_column(PostTarget._meta.get_field(name)) for name in names)
    columns = ", ".join([account, content, *others])
    condition = f"{in_list_condition(account)} AND {in_list_condition(content)} AND {created_at} >= %s"
    table = connection.ops.quote_name(PostTarget._meta.db_table)
    if connection.vendor == "postgresql":
        listed = f"json_agg(json_build_array({columns}) ORDER BY {created_at})::text"
        return f"SELECT {listed} FROM {table} WHERE {condition}"  # noqa: S608 - only names from the model
    rows = f"SELECT json_array({columns}) AS sent FROM {table} WHERE {condition} ORDER BY {created_at}"  # noqa: S608 - as above
    return f"SELECT json_group_array(json(sent)) FROM ({rows})"  # noqa: S608 - as above


_accounts = FixedSelect(
    ConnectedAccount, where=("workspace_id",), where_in="id", join=("workspace",), subquery=_sent_contents_sql
)


def _sent_contents_values(accounts: Iterable[str], hashes: Iterable[str]) -> list[Any]:
    """Return the parameters of the SQL query for duplicates: account ids, content hashes and the earliest time."""
    since = timezone.now() - SAME_CONTENT_WINDOW
    created_at = PostTarget._meta.get_field("created_at").get_db_prep_value(since, connection)
    return [list_parameter(accounts), list_parameter(hashes), created_at]


def _released_duplicates(sent: str | None, ignored_group_id: str) -> dict[ContentKey, str]:
    """Filter a post's duplicates from the database: keep sent targets of post groups that were released for publishing."""
    # Filtered in Python: there are few rows, and each further SQL condition makes the query about 10 % slower.
    earlier = [
        ((account, content, bool(sandbox)), group)
        for account, content, sandbox, group, status in json.loads(sent or "[]")
        if group != ignored_group_id and status not in UNSENT_TARGET_STATUSES
    ]
    if not earlier:
        return {}
    groups = PostGroup.objects.filter(pk__in={group for _, group in earlier})
    released = set(groups.exclude(status__in=UNRELEASED_GROUP_STATUSES).values_list("pk", flat=True))
    return {content: group for content, group in earlier if group in released}
