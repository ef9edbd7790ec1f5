"""Database queries of post groups and of the accounts to which posts can be published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.models import Agent
from config.api.caller import Caller, require_access
from config.api.errors import missing_or_foreign_id_error
from config.api.paging import Page, paginate_earliest_first, paginate_newest_first, paginate_with_scan_limit
from config.api.scopes import AlternativeScopes
from config.db.fixed_select import FixedSelect
from config.db.ids import is_id
from posts.models import PostGroup, PostTarget
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON, SCHEDULE_MISSED, GroupStatus, TargetStatus
from posts.summaries import PostSummary, fetch_summaries_of_queryset
from posts.tags import TAGS_KEY, tag_condition, tags_of_metadata
from workspaces.models import Workspace

MAX_SELECTABLE_ACCOUNTS = 200
MAX_SEARCHED_TEXTS = 1000
SEARCHED_FAILED_POSTS, MISSED_POSTS_SHOWN = 1000, timedelta(days=7)


def groups_prefetching_targets() -> QuerySet[PostGroup]:
    """Return the queryset of post groups that also loads each group's targets, in their order."""
    return PostGroup.objects.prefetch_related(Prefetch("targets", PostTarget.objects.order_by("position")))


_targets_of_group = FixedSelect(PostTarget, where=("group_id",), join=("group",), order_by="position")


def set_prefetched_targets(group: PostGroup, targets: Sequence[PostTarget]) -> None:
    """Store the given targets as the prefetched ones of a post group, so that reading `group.targets` runs no query."""
    rows = group.targets.all()
    rows._result_cache = list(targets)
    vars(group).setdefault("_prefetched_objects_cache", {})["targets"] = rows


def get_post_group(
    *, caller: Caller, post_group_id: str, scope: str | AlternativeScopes = "posts.read", write: bool = False
) -> PostGroup:
    """Query the post group with this id, if the caller may read it. Raises NotFound, ScopeMissing, WorkspacePaused."""
    targets = _targets_of_group(post_group_id) if is_id(post_group_id, "pgr") else []
    if not targets or (not caller.is_user and targets[0].group.workspace_id != caller.workspace_id):
        raise missing_or_foreign_id_error(None, "post group")
    group = targets[0].group
    set_prefetched_targets(group, targets)
    require_access(caller, group.workspace_id, scope, write=write, noun="post group")
    return group


def get_post_group_as_tuples(*, caller: Caller, post_group_id: str) -> tuple[Any, list[Any]]:
    """Query a post group and its targets as named tuples, if the caller may read them. Raises NotFound, ScopeMissing."""
    rows = _targets_of_group.named_tuples(post_group_id) if is_id(post_group_id, "pgr") else []
    if not rows or (not caller.is_user and rows[0][1].workspace_id != caller.workspace_id):
        raise missing_or_foreign_id_error(None, "post group")
    group = rows[0][1]
    require_access(caller, group.workspace_id, "posts.read", write=False, noun="post group")
    return group, [target for target, _ in rows]


def needs_a_person_condition() -> Q:
    """Return the query condition of post groups that wait for a person, worded so that the database uses its index.

    The statuses are part of the SQL, in the order of the index `group_attention`: SQLite uses a partial index only if the
    query has the same condition.
    """
    return Q(status__in=[_status_in_sql(status) for status in GROUP_STATUSES_NEEDING_A_PERSON])


def posts_awaiting_approval(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[PostGroup]:
    """Query a page of the post groups that await approval, oldest first. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "posts.read", write=False)
    rows = groups_prefetching_targets().filter(
        needs_a_person_condition(), workspace_id=workspace_id, status=GroupStatus.PENDING_CONFIRMATION
    )
    return paginate_earliest_first(rows, field="created_at", limit=limit, cursor=cursor)


def recently_missed_posts(*, caller: Caller, workspace_id: str, limit: int) -> list[PostGroup]:
    """Query the newest post groups whose times were missed in the last seven days. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "posts.read", write=False)
    found = recently_missed_post_ids(workspace_id=workspace_id)[:limit]
    return list(groups_prefetching_targets().filter(pk__in=found).order_by("-pk"))


def recently_missed_post_ids(*, workspace_id: str, among: Sequence[str] | None = None) -> list[str]:
    """Query the ids of failed post groups with targets whose times were missed, newest first.

    They are those of the last seven days among the newest 1,000 that failed, or those of `among`, whenever they were missed.
    """
    failed = PostGroup.objects.filter(workspace_id=workspace_id, status__in=(GroupStatus.FAILED, GroupStatus.PARTIAL))
    missed = PostTarget.objects.filter(status=TargetStatus.FAILED, error__code=SCHEDULE_MISSED)
    if among is None:
        missed = missed.filter(scheduled_at__gt=timezone.now() - MISSED_POSTS_SHOWN)
    else:
        failed = failed.filter(pk__in=among)
    newest = list(failed.order_by("-pk").values_list("pk", flat=True)[:SEARCHED_FAILED_POSTS])
    return sorted(set(missed.filter(group__in=newest).values_list("group_id", flat=True)), reverse=True)


def accounts_selectable_for_post(*, caller: Caller, workspace_id: str, chosen: Iterable[str] = ()) -> list[ConnectedAccount]:
    """Query the accounts that a person can choose for a post: up to 200 connected ones, and those in `chosen`.

    Real accounts come before sandbox accounts. `chosen` accounts are included even if disconnected. Raises ScopeMissing,
    NotFound.
    """
    require_access(caller, workspace_id, "accounts.read", write=False)
    rows = ConnectedAccount.objects.filter(workspace_id=workspace_id).defer("credentials", "tokens")
    connected = rows.exclude(status=ConnectedAccount.Status.DISCONNECTED)
    shown = list(connected.order_by("sandbox", "platform", "handle", "pk")[:MAX_SELECTABLE_ACCOUNTS])
    if others := set(chosen) - {account.id for account in shown}:
        shown += rows.filter(pk__in=others)
    return shown


def search_posts(
    *,
    caller: Caller,
    workspace_id: str,
    status: str | None = None,
    platform: str | None = None,
    account_id: str | None = None,
    agent_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    text: str | None = None,
    tag: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[PostSummary]:
    """Query a page of the workspace's post groups that match all filters of a search, newest first.

    With `text` or `tag`, only groups whose text contains it or that have the tag; each page then searches at most
    MAX_SEARCHED_TEXTS groups and may be empty.
    Raises ScopeMissing, NotFound (also for an account or agent of another workspace).
    """
    require_access(caller, workspace_id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace_id, account_id=account_id, agent_id=agent_id)
    wanted = {"agent_id": agent_id, "created_at__gt": created_after, "created_at__lt": created_before}
    rows = PostGroup.objects.filter(
        workspace_id=workspace_id, **{name: value for name, value in wanted.items() if value is not None}
    )
    rows = _with_target(_with_status(rows, status), platform, account_id)
    if text is None and tag is None:
        return paginate_newest_first(rows, limit=limit, cursor=cursor, fetch=fetch_summaries_of_queryset)
    matching = Q() if text is None else Q(text__icontains=text)
    if tag is not None:
        matching &= Q(tag_condition(tag))
    return paginate_with_scan_limit(
        rows, wanted=matching, span=MAX_SEARCHED_TEXTS, limit=limit, cursor=cursor, fetch=fetch_summaries_of_queryset
    )


def tags_by_post_group_id(group_ids: Sequence[str]) -> dict[str, list[str]]:
    """Query the tags of several post groups: a dict by post group id, without the groups that have no tags."""
    rows = PostGroup.objects.filter(pk__in=group_ids, metadata__has_key=TAGS_KEY).values_list("pk", "metadata")
    return {pk: tags_of_metadata(metadata) for pk, metadata in rows}


def workspace_timezone_name(*, workspace_id: str) -> str:
    """Query the name of the workspace's default time zone, for the local times in lists of posts."""
    return Workspace.objects.values_list("default_timezone", flat=True).get(pk=workspace_id)


def require_account_and_agent_in_workspace(workspace_id: str, *, account_id: str | None, agent_id: str | None = None) -> None:
    """Raise NotFound for a query of posts if the account or agent to search for does not belong to the workspace."""
    if account_id and not ConnectedAccount.objects.filter(pk=account_id, workspace_id=workspace_id).exists():
        raise missing_or_foreign_id_error(None, "account")
    if agent_id and not Agent.objects.filter(pk=agent_id, workspace_id=workspace_id).exists():
        raise missing_or_foreign_id_error(None, "agent")


def _with_status(rows: QuerySet[PostGroup], status: str | None) -> QuerySet[PostGroup]:
    """Filter a query of post groups by status.

    The status is part of the SQL: PostgreSQL plans a prepared statement once for all values of its parameters, and that plan
    would search the whole history for a rare status instead of using `group_attention`.
    """
    if status is None:
        return rows
    found = rows.filter(status=_status_in_sql(status))
    return found.filter(needs_a_person_condition()) if status in GROUP_STATUSES_NEEDING_A_PERSON else found


def _status_in_sql(status: str) -> RawSQL:
    return RawSQL(f"'{GroupStatus(status).value}'", ())  # noqa: S611 - one of the statuses


def _with_target(rows: QuerySet[PostGroup], platform: str | None, account_id: str | None) -> QuerySet[PostGroup]:
    """Filter a query of post groups to those that have a target with this platform and account."""
    wanted = {name: value for name, value in (("platform", platform), ("account_id", account_id)) if value is not None}
    return rows.filter(Exists(PostTarget.objects.filter(group=OuterRef("pk"), **wanted))) if wanted else rows
