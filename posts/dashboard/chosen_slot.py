"""A particular slot that a person has chosen in the calendar for the new post in the composer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from django.http import QueryDict

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from posts.content import PostInput
from posts.dashboard.calendar_slots import is_coming_slot_of_account, slot_query_value
from posts.dashboard.inputs import parse_iso_moment_with_zone_or_none
from posts.slot_choice import taken_slots

SLOT_FIELD, TAKES_SLOT_FIELD = "slot", "takes_slot"


@dataclass(frozen=True)
class ChosenSlot:
    """A slot that was chosen in the calendar for a new post; `is_wanted`: the person still wants the post to take it."""

    account: ConnectedAccount
    at: datetime
    is_wanted: bool

    @classmethod
    def from_fields_or_none(
        cls, fields: QueryDict | None, accounts: Iterable[ConnectedAccount], *, submitted: bool
    ) -> ChosenSlot | None:
        """Return the chosen slot that the address or the form of the composer names; None if it names none."""
        account_id, _, written = (fields.get(SLOT_FIELD, "") if fields else "").partition("@")
        account, at = (
            next((each for each in accounts if each.id == account_id), None),
            parse_iso_moment_with_zone_or_none(written),
        )
        if fields is None or account is None or at is None:
            return None
        return cls(account, at, TAKES_SLOT_FIELD in fields or not submitted)

    @property
    def query_value(self) -> str:
        return slot_query_value(self.account, self.at)

    @property
    def account_label(self) -> str:
        """Return the platform and the handle of the account of this ChosenSlot."""
        return f"{platform_label(self.account.platform)} {self.account.handle or self.account.external_id}"

    @cached_property
    def is_gone(self) -> bool:
        """Return whether another post has taken this ChosenSlot, or the account has no slot at this time any more."""
        taken = taken_slots([self.account.id], (self.at, self.at + timedelta(seconds=1)))
        return bool(taken) or not is_coming_slot_of_account(self.account, self.at)

    def copy_of_post_in_this_slot(self, post: PostInput) -> PostInput:
        """Return a copy of the post to create in which the target of this account takes this ChosenSlot."""
        targets = tuple(
            replace(each, scheduled_at=self.at, slot="next") if each.connected_account_id == self.account.id else each
            for each in post.targets
        )
        return replace(post, targets=targets, scheduled_at=post.scheduled_at if len(targets) > 1 else None)
