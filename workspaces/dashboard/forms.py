"""The forms of a workspace's dashboard pages: name and time zone, monthly caps, deletion, filters of the audit log."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from auditlog.models import ActorType, AuditEntry
from config.api.fields import MAX_INT64, TIMEZONES
from workspaces.models import Workspace

# Other zone names are legacy aliases or plain offsets; a workspace that has one may retain it.
TIMEZONE_REGIONS = frozenset(
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()  # noqa: SIM905
)
DATE_VALIDATORS = [MinValueValidator(date(2000, 1, 1)), MaxValueValidator(date(2200, 1, 1))]


def timezone_choices(current: str) -> list[Any]:
    """Return the time zones that the workspace's settings form offers, grouped by region.

    `current` is always included.
    """
    regions: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in sorted(TIMEZONES):
        region, _, place = name.partition("/")
        if region in TIMEZONE_REGIONS:
            regions[region].append((name, place.replace("_", " ")))
    others = [("UTC", "UTC")]
    if current != "UTC" and current.partition("/")[0] not in TIMEZONE_REGIONS:
        others.append((current, current))
    return [*others, *regions.items()]


class WorkspaceNameAndTimezoneForm(forms.Form):
    """The dashboard form of the workspace's name and time zone."""

    name = forms.CharField(max_length=200, label=_("Name"))
    default_timezone = forms.ChoiceField(
        label=_("Time zone"),
        help_text=_("Days and times are shown in this time zone. Posts that are already scheduled keep their time."),
    )

    def __init__(self, data: Any = None, *, workspace: Workspace) -> None:
        shown = {"name": workspace.name, "default_timezone": workspace.default_timezone}
        super().__init__(data, initial=shown)
        self.fields["default_timezone"].choices = timezone_choices(workspace.default_timezone)  # type: ignore[attr-defined]


class MonthlyCapsForm(forms.Form):
    """The dashboard form of the workspace's monthly caps, with money in dollars."""

    spend_cap = forms.DecimalField(
        label=_("Spend cap each month, in US dollars"),
        help_text=_("The most that may be spent beyond the free credit. With 0, posts stop when the credit is used up."),
        min_value=0,
        max_value=Decimal(MAX_INT64) / 100,
        decimal_places=2,
    )
    url_post_cap = forms.IntegerField(
        label=_("Posts with a link on X each month"),
        help_text=_("They cost far more than other posts. With 0, none is published."),
        min_value=0,
        max_value=MAX_INT64,
    )

    def __init__(self, data: Any = None, *, workspace: Workspace) -> None:
        shown = {
            "spend_cap": f"{Decimal(workspace.monthly_spend_cap_cents) / 100:.2f}",
            "url_post_cap": workspace.monthly_social_url_post_cap,
        }
        super().__init__(data, initial=shown)

    @property
    def caps(self) -> dict[str, Any]:
        """Return the monthly caps entered in a workspace's form, as arguments of `update_caps`."""
        return {
            "monthly_spend_cap_cents": int(self.cleaned_data["spend_cap"] * 100),
            "monthly_social_url_post_cap": self.cleaned_data["url_post_cap"],
        }


class WorkspaceDeletionForm(forms.Form):
    """The dashboard form for deleting a workspace. It asks for the workspace's name, to prevent a deletion by mistake."""

    name = forms.CharField(widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, data: Any = None, *, workspace: Workspace) -> None:
        super().__init__(data, prefix="deletion")
        self.expected_name = workspace.name
        self.fields["name"].label = gettext("To confirm, type the name of the workspace: %(workspace)s") % {
            "workspace": workspace.name
        }

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self.expected_name.strip():
            raise forms.ValidationError(_("This is not the workspace's name. Nothing was deleted."))
        return self.expected_name


ACTOR_LABELS = {
    ActorType.USER.value: _("A person"),
    ActorType.AGENT.value: _("An agent"),
    ActorType.API_KEY.value: _("An API key"),
    ActorType.CLI.value: _("A command line"),
    ActorType.MCP.value: _("An MCP client"),
    ActorType.AGENT_RUNTIME.value: _("An agent runtime"),
    ActorType.SYSTEM.value: _("The service"),
}


class AuditLogFilterForm(forms.Form):
    """The dashboard form of the audit log's filters. An invalid filter is ignored and shown as an error."""

    actor_type = forms.ChoiceField(label=_("Who"), choices=[("", _("Anybody")), *ACTOR_LABELS.items()], required=False)
    actor_id = forms.CharField(label=_("Whose id"), max_length=64, required=False, widget=forms.TextInput({"size": 14}))
    operation = forms.CharField(label=_("Operation"), max_length=64, required=False, widget=forms.TextInput({"size": 14}))
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        choices=[("", _("Any")), (AuditEntry.Outcome.SUCCEEDED, _("Succeeded")), (AuditEntry.Outcome.REFUSED, _("Refused"))],
        required=False,
    )
    since = forms.DateField(
        label=_("From"),
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        required=False,
        validators=DATE_VALIDATORS,
    )
    until = forms.DateField(
        label=_("To"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"), required=False, validators=DATE_VALIDATORS
    )

    def __init__(self, data: Any, *, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone = zone

    @property
    def filters(self) -> dict[str, Any]:
        """Return the valid fields of the audit log's filter form, as arguments of `audit_entries_of_workspace`.

        The first and last day are included.
        """
        self.is_valid()
        chosen = dict(self.cleaned_data)
        since, until = chosen.pop("since", None), chosen.pop("until", None)
        filters: dict[str, Any] = {name: value for name, value in chosen.items() if value}
        if since:
            filters["since"] = self._midnight(since)
        if until:
            filters["before"] = self._midnight(until + timedelta(days=1))
        return filters

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time.min, self.zone)
