"""Creates and deletes calendar feeds: secret addresses at which calendar programs read a workspace's posts."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from agents.tokens import CALENDAR_FEED_PREFIX, generate_token, token_digest
from auditlog.services import record_entry
from config.api.caller import Caller
from config.api.errors import Conflict, Forbidden, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan
from posts.calendar_feed_selectors import feed_with_id, require_person_who_may_read_posts
from posts.models import CalendarFeed
from workspaces.models import Member
from workspaces.services import lock_workspace
from workspaces.services.members import ADMIN_ROLES

MAX_FEEDS = 100  # of a workspace


@dataclass(frozen=True)
class CreatedFeed:
    """A new calendar feed and its address, which is shown only once; in a dry run the address is None."""

    feed: CalendarFeed
    url: str | None


def create_calendar_feed(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> CreatedFeed:
    """Create a calendar feed of the workspace, which works until it is deleted or the calling person leaves the workspace.

    Raises UserSessionRequired, NotFound, WorkspacePaused, Conflict (MAX_FEEDS), PlanChanged.
    """
    require_person_who_may_read_posts(caller, workspace_id, write=True)
    token = generate_token(CALENDAR_FEED_PREFIX)
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent calls cannot exceed the limit together
        if CalendarFeed.objects.filter(member__workspace_id=workspace_id).count() >= MAX_FEEDS:
            message = f"The workspace already has {MAX_FEEDS} calendar feeds."
            raise Conflict(message, suggested_action=gettext_noop("Delete those that nobody uses."))
        accept_plan(ResourcePlan("calendar_feeds.create", workspace_id, None, {}))
        member = Member.objects.select_related("user").filter(workspace_id=workspace_id, user_id=caller.actor_id).first()
        if member is None:  # who has just left the workspace
            raise missing_or_foreign_id_error(None, "workspace")
        feed = CalendarFeed(member=member, token_sha256=token_digest(token))
        if not dry_run:
            feed.save()
        record_entry(
            caller=caller,
            operation="calendar_feeds.create",
            workspace_id=workspace_id,
            resource_type="calendar_feed",
            resource_id="" if dry_run else feed.id,
            dry_run=dry_run,
        )
    return CreatedFeed(feed, None if dry_run else f"{settings.BASE_URL}/calendar/{token}.ics")


def delete_calendar_feed(*, caller: Caller, workspace_id: str, feed_id: str, dry_run: bool = False) -> CalendarFeed:
    """Delete a calendar feed, whose address then answers 404: one's own, or any as owner or admin.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, PlanChanged.
    """
    feed = feed_with_id(caller=caller, workspace_id=workspace_id, feed_id=feed_id, write=True)
    if feed.member.user_id != caller.actor_id and caller.role not in ADMIN_ROLES:
        raise Forbidden(gettext_noop("Only an owner or admin may delete the calendar feed of somebody else."))
    with transaction.atomic():
        accept_plan(ResourcePlan("calendar_feeds.delete", feed.id, {"member": feed.member.user_id}, {}))
        if not dry_run:
            CalendarFeed.objects.filter(pk=feed.id).delete()
        record_entry(
            caller=caller,
            operation="calendar_feeds.delete",
            workspace_id=workspace_id,
            resource_type="calendar_feed",
            resource_id=feed.id,
            dry_run=dry_run,
        )
    return feed
