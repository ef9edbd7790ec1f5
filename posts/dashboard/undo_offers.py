"""Offers to undo what a person has just done on a dashboard page, and how long publishing waits for that.

They are made only for what can be undone: the services refuse once a post is being published.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core import signing
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange
from posts.services.changes import is_unattempted_target
from posts.services.preferences import skips_undo_delay
from posts.services.take_back_retry import state_before_retry
from posts.states import CANCELLABLE_GROUP_STATUSES, GroupStatus
from workspaces.workspace_page import WorkspacePage

UNDO_SECONDS = 10
PUBLISHING_DELAY_FOR_UNDO = timedelta(seconds=UNDO_SECONDS + 2)  # the page that offers the undo takes a moment to load
UNDO_SALT = "posts.undo"


@dataclass(frozen=True)
class UndoOffer:
    """An offer to undo a person's action on a post or composer draft: the action, and the former state.

    `at` and `status` are the post's time and status before the action; for a deletion, `at` is its time. `when` is the time
    that was filled in, and `version` and `plan_hash` are the content version and the hash of the plan after the action.
    `seconds` limits the offer for a post that is about to be published. `times` are the former times of single targets:
    account id, time, and whether it was a slot. `before_retry` is what a post was before a retry, too long for an address.
    """

    action: str
    subject: str
    at: str = ""
    status: str = ""
    when: str = ""
    version: int = 0
    plan_hash: str = ""
    seconds: int = 0
    times: Sequence[tuple[str, str, bool]] = ()
    before_retry: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moment(self) -> datetime | None:
        return parse_datetime(self.at) if self.at else None

    def address(self, page: WorkspacePage) -> str:
        """Return the address to which the button of this UndoOffer posts, such as the button beside a message."""
        token = signing.dumps([page.caller.actor_id, page.workspace.id, asdict(self)], salt=UNDO_SALT, compress=True)
        return f"{page.url_of_page('post-undo')}?{urlencode({'token': token, 'seconds': self.seconds or ''})}"


def publish_now_due_at_or_none(page: WorkspacePage) -> datetime | None:
    """Return when a post published or retried now is due: after the delay for an undo, or None for at once.

    It is None as well if the post waits for approval first.
    """
    waits = page.may_publish_without_approval and not skips_undo_delay(caller=page.caller)
    return timezone.now() + PUBLISHING_DELAY_FOR_UNDO if waits else None


def undo_offer_after_scheduling_or_publishing(
    before: PostGroup | None, after_id: str, *, publishes: bool, when: str = ""
) -> UndoOffer:
    """Return how to undo that a post was scheduled or published; `before` is the post as it was, None for a new post."""
    version, plan_hash = PostGroup.objects.values_list("content_version", "plan_hash").get(pk=after_id)
    offer = functools.partial(
        UndoOffer, subject=after_id, seconds=UNDO_SECONDS if publishes else 0, version=version, plan_hash=plan_hash or ""
    )
    if before is None:
        return offer("unpublish", when=when)
    at = before.scheduled_at.isoformat() if before.scheduled_at else ""
    if before.status == GroupStatus.SCHEDULED:
        return offer("move", at=at)
    # An agent's draft stays the agent's; another draft becomes a new one.
    takes_back = before.status == GroupStatus.PENDING_CONFIRMATION or before.agent_id
    return offer("approve" if takes_back else "release", at=at, status=before.status)


def undo_offer_of_move(before: PostGroup, moved: Iterable[PostTarget]) -> UndoOffer:
    """Return the offer to undo a move in the calendar, from the post and its moved targets as they were before."""
    version, plan_hash = PostGroup.objects.values_list("content_version", "plan_hash").get(pk=before.id)
    times = [(each.account_id, each.scheduled_at.isoformat(), each.slot) for each in moved if each.scheduled_at]
    at = before.scheduled_at.isoformat() if before.scheduled_at else ""
    return UndoOffer("move_entry", before.id, at=at, version=version, plan_hash=plan_hash or "", times=times)


def undo_offer_of_retry(change: GroupChange) -> UndoOffer:
    """Return the offer to undo the retry of a failed post; `change` is the post's GroupChange in the committed plan."""
    return UndoOffer("retry", change.after.id, seconds=UNDO_SECONDS, before_retry=state_before_retry(change))


def undo_offer_of_deletion_or_none(before: PostGroup) -> UndoOffer | None:
    """Return how to undo that a post was deleted or cancelled; None if publishing it had begun."""
    if before.status not in CANCELLABLE_GROUP_STATUSES or not all(map(is_unattempted_target, before.targets.all())):
        return None
    cancelled_at = PostGroup.objects.values_list("finished_at", flat=True).get(pk=before.id)
    return UndoOffer("delete", before.id, at=cancelled_at.isoformat() if cancelled_at else "", status=before.status)
