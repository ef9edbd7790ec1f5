"""The composer's publishing times for single accounts; accounts without a time of their own use the post's time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import QueryDict

from posts.content import own_scheduled_at
from posts.dashboard.forms import ScheduleForm
from posts.models import PostGroup


@dataclass(frozen=True)
class AccountTimeForms:
    """The composer's forms for publishing times of single accounts, by account id; `requested` if a person opened them.

    `in_slots` are the accounts whose next free slot is chosen.
    """

    forms: dict[str, ScheduleForm]
    in_slots: frozenset[str]
    requested: bool

    @classmethod
    def from_form_or_post(
        cls, sent: QueryDict | None, group: PostGroup | None, account_ids: Iterable[str], zone: ZoneInfo
    ) -> AccountTimeForms:
        """Build the composer's time forms, one for each account, from the submitted form, or else from the edited post."""
        stored = list(group.targets.all()) if group else []
        own = {each.account_id: own_scheduled_at(group, each) for each in stored if group and not each.slot}
        forms = {pk: ScheduleForm(sent, prefix=f"time-{pk}", zone=zone, at=own.get(pk)) for pk in dict.fromkeys(account_ids)}
        requested = sent is not None and (sent.get("action") == "times" or any(name.startswith("time-") for name in sent))
        if sent is None:
            in_slots = frozenset(each.account_id for each in stored if each.slot)
        else:
            in_slots = frozenset(pk for pk in forms if f"time-{pk}-slot" in sent)
        return cls(forms, in_slots, requested)

    @property
    def valid_times(self) -> dict[str, datetime]:
        """Return the valid publishing times that were entered in the composer for single accounts, by account id."""
        found = {pk: form.chosen_time_or_none for pk, form in self.forms.items() if form.is_valid()}
        return {pk: at for pk, at in found.items() if at and pk not in self.in_slots}

    @property
    def entered_times(self) -> dict[str, datetime]:
        """Return the composer's times of single accounts, by account id; for a time that clocks repeat, the first instant."""
        return {pk: form.instants[0] for pk, form in self.forms.items() if form.instants and pk not in self.in_slots}

    @property
    def are_shown(self) -> bool:
        return self.requested or bool(self.in_slots) or any(form["when"].value() for form in self.forms.values())

    @property
    def have_errors(self) -> bool:
        return any(form.errors for form in self.forms.values())
