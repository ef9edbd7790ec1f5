"""The dashboard page on which a person edits the slots of an account: the times of each weekday, and their time zone."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts import services
from accounts.dashboard.accounts import ShownAccount, workspace_account_or_404
from accounts.dashboard.slots_in_words import WEEKDAY_NAMES, slot_times_text_by_weekday
from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.slots import MAX_SLOTS, WEEKDAYS
from workspaces.dashboard.forms import timezone_choices
from workspaces.workspace_page import WorkspacePage, workspace_page

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)


class TimesField(forms.CharField):
    """The form field of an account's slots on one weekday: times of day, separated by spaces or commas."""

    def clean(self, value: Any) -> list[str]:
        """Return the entered slots of a weekday as HH:MM. Raises ValidationError."""
        times = []
        for word in re.split(r"[\s,;]+", str(value or "").strip()):
            if word and not _TIME.fullmatch(word):
                message = gettext("“%(word)s” is not a time of day. Write times such as 09:00 17:30.")
                raise forms.ValidationError(message % {"word": word[:20]})
            if word:
                times.append(word.zfill(5))
        return times


class SlotsForm(forms.Form):
    """The form for the slots of an account: a field of times for each weekday."""

    marks_needed = True  # a day may be empty
    timezone = forms.ChoiceField(label=_("Time zone"))

    def __init__(self, data: Any = None, *, account: ConnectedAccount, default_timezone: str) -> None:
        zone = account.slot_timezone or default_timezone
        super().__init__(data, initial={"timezone": zone, **slot_times_text_by_weekday(account)})
        self.fields["timezone"].choices = timezone_choices(zone)  # type: ignore[attr-defined]
        for weekday, name in WEEKDAY_NAMES.items():
            self.fields[weekday] = TimesField(label=name, required=False)

    @property
    def entered_slots(self) -> list[dict[str, str]]:
        """Return the slots that a person entered in the form for an account, as weekdays with times."""
        return [{"weekday": weekday, "time": time} for weekday in WEEKDAYS for time in self.cleaned_data[weekday]]

    def clean(self) -> None:
        if not self.errors and len(self.entered_slots) > MAX_SLOTS:
            raise forms.ValidationError(gettext("An account has at most %(most)d slots.") % {"most": MAX_SLOTS})


@workspace_page("GET", "POST", operation="accounts.update_slots")
def edit_slots(page: WorkspacePage, account_id: str) -> HttpResponse:
    """Dashboard page that shows the slots (weekly publishing times) of an account, and saves the edited slots."""
    row = workspace_account_or_404(page, account_id)
    sent = page.request.POST if page.request.method == "POST" else None
    form = SlotsForm(sent, account=row, default_timezone=page.zone.key)
    if sent is not None and form.is_valid():
        zone = form.cleaned_data["timezone"]
        services.update_slots(caller=page.caller, account_id=row.id, timezone=zone, slots=form.entered_slots)
        return page.success_redirect(gettext("The slots are saved."), "account", account_id=row.id)
    shown = ShownAccount(row, get_adapter(row.platform).label)
    return page.render("accounts/slots.html", account=shown, form=form, status=422 if sent is not None else 200)
