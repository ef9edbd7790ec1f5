"""The form of a series of posts: its texts and accounts, and simple choices that make up its recurrence rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from posts.dashboard.inputs import normalize_newlines_and_nul
from posts.dashboard.series_rule import (
    AFTER_COUNT,
    DAILY,
    MONTH_DAY,
    MONTH_WEEKDAY,
    NEVER,
    ON_DATE,
    OTHER,
    WEEKDAY_NAMES,
    WEEKDAY_ORDINALS,
    WEEKLY,
    form_values_of_rule,
    rule_from_form_values,
)
from posts.models import Series
from posts.recurrence.rule import MAX_RULE_LENGTH
from posts.series_posts import texts_of_series
from workspaces.dashboard.forms import DATE_VALIDATORS, timezone_choices

TEXT_SEPARATOR = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
MONTH_DAYS = [(day, str(day)) for day in range(1, 32)] + [(-1, _("the last"))]


class SeriesForm(forms.Form):
    """The form to create or change a series. The start and the time zone of a stored series stay as they are."""

    marks_needed = True  # which fields are needed depends on the choices
    name = forms.CharField(label=_("Name"), required=False, max_length=200, help_text=_("It is not published."))
    text = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("{n} becomes the number of the post, and {date} its date."),
    )
    texts = forms.CharField(
        label=_("Further texts"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=_(
            "Used in turn after the first, since platforms may refuse a text that repeats. A line of three "
            "hyphens stands between two texts."
        ),
    )
    accounts = forms.MultipleChoiceField(
        label=_("Accounts"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one account.")},
    )
    day = forms.DateField(
        label=_("First day"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"), validators=DATE_VALIDATORS
    )
    time = forms.TimeField(label=_("Time of day"), widget=forms.TimeInput({"type": "time"}, format="%H:%M"))
    timezone = forms.ChoiceField(label=_("Time zone"))
    repeats = forms.ChoiceField(
        label=_("Repeats"),
        choices=[
            (DAILY, _("Every day")),
            (WEEKLY, _("On days of the week")),
            (MONTH_DAY, _("On a day of the month")),
            (MONTH_WEEKDAY, _("On a weekday of the month")),
            (OTHER, _("By a rule of my own")),
        ],
        widget=forms.RadioSelect,
    )
    interval = forms.IntegerField(
        label=_("Every … days, weeks or months"),
        required=False,
        min_value=1,
        max_value=1000,
        help_text=_("1 leaves none out."),
    )
    weekdays = forms.MultipleChoiceField(
        label=_("Days of the week"), required=False, choices=list(WEEKDAY_NAMES.items()), widget=forms.CheckboxSelectMultiple
    )
    month_day = forms.TypedChoiceField(label=_("Day of the month"), required=False, choices=MONTH_DAYS, coerce=int)
    place = forms.ChoiceField(label=_("Which one in the month"), required=False, choices=list(WEEKDAY_ORDINALS.items()))
    place_weekday = forms.ChoiceField(label=_("Weekday of the month"), required=False, choices=list(WEEKDAY_NAMES.items()))
    rrule = forms.CharField(
        label=_("Rule (RFC 5545)"),
        required=False,
        max_length=MAX_RULE_LENGTH,
        help_text=_("For example FREQ=YEARLY;BYMONTH=3."),
    )
    ends = forms.ChoiceField(
        label=_("Ends"),
        required=False,
        choices=[(NEVER, _("Never")), (ON_DATE, _("On a day")), (AFTER_COUNT, _("After a number of posts"))],
        widget=forms.RadioSelect,
    )
    until = forms.DateField(
        label=_("Last day"),
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        validators=DATE_VALIDATORS,
    )
    count = forms.IntegerField(label=_("Number of posts"), required=False, min_value=1, max_value=10_000)
    apply_to_scheduled = forms.BooleanField(
        label=_("Also change the posts that are scheduled already"), required=False, initial=True
    )

    def __init__(
        self, data: Any = None, *, accounts: list[ConnectedAccount], initial: Mapping[str, Any], series: Series | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial))
        self.fields["accounts"].choices = [(each.id, _account_name(each)) for each in accounts]  # type: ignore[attr-defined]
        self.fields["timezone"].choices = timezone_choices(initial["timezone"])  # type: ignore[attr-defined]
        for name in ("day", "time", "timezone") if series else ("apply_to_scheduled",):
            del self.fields[name]
        self._zone = ZoneInfo(series.timezone) if series else None

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone for this SeriesForm: that of the stored series, or the one chosen for a new series."""
        return self._zone or ZoneInfo(self.cleaned_data["timezone"])

    @property
    def rule_text(self) -> str:
        """Return the RFC 5545 rule for the choices that were entered in the form of a series."""
        return rule_from_form_values(self.cleaned_data, self.zone)

    @property
    def starts_at(self) -> str:
        return f"{self.cleaned_data['day']:%Y-%m-%d}T{self.cleaned_data['time']:%H:%M}"

    @property
    def entered_thread_texts(self) -> list[str]:
        """Return the texts entered in the form of a series, in the order in which the series' posts use them in turn."""
        further = TEXT_SEPARATOR.split(normalize_newlines_and_nul(self.cleaned_data["texts"]))
        return [normalize_newlines_and_nul(self.cleaned_data["text"]), *(each.strip() for each in further if each.strip())]

    def clean_interval(self) -> int:
        return self.cleaned_data["interval"] or 1

    def clean(self) -> None:
        """Check that the form of a series has the fields that its choices need, such as weekdays for a weekly series."""
        chosen = self.cleaned_data
        needed = {WEEKLY: ("weekdays", _("Choose at least one day.")), OTHER: ("rrule", _("Write the rule."))}.get(
            chosen.get("repeats", "")
        )
        end = {ON_DATE: ("until", _("Choose the last day.")), AFTER_COUNT: ("count", _("Say how many posts."))}.get(
            chosen.get("ends", "")
        )
        for name, message in filter(None, (needed, end)):
            if not chosen.get(name) and name not in self.errors:
                self.add_error(name, message)


def initial_of_new_series(zone: ZoneInfo, post: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the form of a new series: every day at nine from tomorrow, with the content of `post`."""
    tomorrow = datetime.now(UTC).astimezone(zone).date() + timedelta(days=1)
    start = {"day": f"{tomorrow:%Y-%m-%d}", "time": "09:00", "timezone": zone.key}
    return {**start, "repeats": DAILY, "ends": NEVER, "interval": 1, **_post_fields(post)}


def initial_of_series(series: Series) -> dict[str, Any]:
    """Return the initial values of the form of a stored series."""
    zone = ZoneInfo(series.timezone)
    rule = {"interval": 1, "ends": NEVER, **form_values_of_rule(series.rrule, zone)}
    return {"name": series.name or "", "timezone": series.timezone, **rule, **_post_fields(series.post)}


def _post_fields(post: Mapping[str, Any]) -> dict[str, Any]:
    texts = texts_of_series(post)
    accounts = [target["connected_account_id"] for target in post["targets"]]
    return {"text": texts[0], "texts": "\n---\n".join(texts[1:]), "accounts": accounts}


def _account_name(account: ConnectedAccount) -> str:
    sandbox = f" ({_('sandbox')})" if account.sandbox else ""
    return f"{platform_label(account.platform)} {account.handle or account.external_id}{sandbox}"
