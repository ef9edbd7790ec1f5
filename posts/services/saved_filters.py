"""The filters of the list of posts and of the calendar that a person has saved, for this person alone."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_noop

from config.api.caller import Caller, require_access
from config.api.errors import Conflict, missing_or_foreign_id_error
from posts.models import SavedFilter
from workspaces.models import Member

MAX_SAVED_FILTERS = 20  # of a member


def saved_filters_of_person(*, caller: Caller, workspace_id: str, page: str) -> list[SavedFilter]:
    """Return the filters that the calling person has saved for a page, such as the calendar, in a workspace, by name."""
    mine = SavedFilter.objects.filter(member__workspace_id=workspace_id, member__user_id=caller.actor_id, page=page)
    return list(mine.order_by("name", "pk")[:MAX_SAVED_FILTERS])


def save_or_replace_filter(*, caller: Caller, workspace_id: str, page: str, name: str, query: str) -> SavedFilter:
    """Save a filter of the list of posts or of the calendar for the calling person; replaces one with the same name.

    Raises NotFound, Conflict (MAX_SAVED_FILTERS).
    """
    require_access(caller, workspace_id, None, write=False)
    with transaction.atomic():
        # The lock keeps concurrent requests from exceeding the limit together.
        member = Member.objects.select_for_update().filter(workspace_id=workspace_id, user_id=caller.actor_id).first()
        if member is None:  # who has just left the workspace
            raise missing_or_foreign_id_error(None, "workspace")
        others = SavedFilter.objects.filter(member=member).exclude(page=page, name=name)
        if others.count() >= MAX_SAVED_FILTERS:
            message = f"You already have {MAX_SAVED_FILTERS} saved filters."
            raise Conflict(message, suggested_action=gettext_noop("Delete one of them first."))
        return SavedFilter.objects.update_or_create(member=member, page=page, name=name, defaults={"query": query})[0]


def delete_saved_filter(*, caller: Caller, workspace_id: str, filter_id: int) -> None:
    """Delete a filter that the calling person has saved. Raises NotFound."""
    require_access(caller, workspace_id, None, write=False)
    mine = SavedFilter.objects.filter(member__workspace_id=workspace_id, member__user_id=caller.actor_id, pk=filter_id)
    if not mine.delete()[0]:
        raise missing_or_foreign_id_error(None, "saved filter")
