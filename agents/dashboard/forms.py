"""The dashboard form of API keys, and the labels of scopes (permissions) and agent modes in forms and pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.networks import MAX_ALLOWED_NETWORKS, normalize_network
from config.api.caller import AgentMode

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

DEFAULT_SCOPES = ("posts.read", "posts.draft", "posts.schedule", "posts.publish", "media.upload", "accounts.read")
MAX_YEAR = 2200
format_html_lazy = lazy(format_html, SafeString)

# What a workspace key with the scope may do, in the order of config/api/scopes.py.
KEY_SCOPE_LABELS = {
    "posts.read": _("See posts, their results, and their webhook deliveries"),
    "posts.draft": _("Write drafts"),
    "posts.schedule": _("Schedule posts, and cancel scheduled ones"),
    "posts.publish": _("Publish posts, send failed ones again, and repeat webhook deliveries"),
    "media.upload": _("Upload and delete pictures, videos and files"),
    "accounts.read": _("See the connected accounts, and check whether they work"),
    "accounts.write": _("Connect and disconnect accounts"),
    "usage.read": _("See usage and costs"),
    "logs.read": _("Read the audit log"),
    "api_keys.write": _(
        "Administer: agents, API keys, budget caps, the webhook signing secret, export and deletion of the workspace"
    ),
}
AGENT_SCOPE_LABELS = KEY_SCOPE_LABELS | {"api_keys.write": _("Nothing: agents cannot administer")}

# (name, description) of each mode, from the most to the least restricted.
MODE_LABELS = {
    AgentMode.DRY_RUN: (_("Only tries things"), _("It sees what would happen. Nothing is saved, scheduled or published.")),
    AgentMode.DRAFT: (_("Writes drafts"), _("It saves drafts. A person decides whether to publish them.")),
    AgentMode.REQUIRES_CONFIRMATION: (
        _("Asks first"),
        _("What it publishes or schedules waits under Approvals until a person says yes."),
    ),
    AgentMode.ALLOW_PUBLISH: (_("Publishes by itself"), _("It publishes and schedules without asking, within its caps.")),
}


def scope_checkboxes_field(labels: Mapping[str, StrOrPromise], label: StrOrPromise) -> forms.MultipleChoiceField:
    """Return the field of an agent or API key form with a checkbox for each scope (permission) in `labels`."""
    choices = [
        (scope, format_html_lazy("<span>{} <code>{}</code></span>", meaning, scope)) for scope, meaning in labels.items()
    ]
    return forms.MultipleChoiceField(label=label, choices=choices, widget=forms.CheckboxSelectMultiple)


class WorkspaceApiKeyForm(forms.Form):
    """The dashboard form to create a workspace API key: name, scopes (permissions), last valid day, allowed networks.

    The key expires at the end of that day in the workspace's time zone.
    """

    name = forms.CharField(max_length=200, label=_("Name"), help_text=_("For example where it is used."))
    scopes = scope_checkboxes_field(KEY_SCOPE_LABELS, _("What it opens"))
    expires_at = forms.DateField(
        required=False,
        label=_("Last day it works"),
        help_text=_("Empty: works until it is revoked."),
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    allowed_networks = forms.CharField(
        required=False,
        max_length=100 * MAX_ALLOWED_NETWORKS,
        label=_("Networks it may be used from"),
        help_text=format_lazy(
            _("One per line, at most {most}, such as 203.0.113.0/24 or 2001:db8::/32. Empty: any."), most=MAX_ALLOWED_NETWORKS
        ),
        widget=forms.Textarea({"rows": 3, "class": "short"}),
    )

    def __init__(self, data: Any = None, *, zone: ZoneInfo) -> None:
        super().__init__(data, initial={"scopes": DEFAULT_SCOPES})
        self.zone = zone
        if settings.API_KEY_DEFAULT_DAYS:
            days = settings.API_KEY_DEFAULT_DAYS
            text = ngettext("Empty: works for %(days)d day.", "Empty: works for %(days)d days.", days)
            self.fields["expires_at"].help_text = text % {"days": days}

    def clean_expires_at(self) -> datetime | None:
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        if day.year > MAX_YEAR:
            raise forms.ValidationError(gettext("Choose an earlier day, or leave it empty."))
        return datetime.combine(day + timedelta(days=1), time.min, self.zone)

    def clean_allowed_networks(self) -> list[str]:
        typed = self.cleaned_data["allowed_networks"].replace(",", " ").split()
        if len(typed) > MAX_ALLOWED_NETWORKS:
            raise forms.ValidationError(gettext("Enter at most %(most)d networks.") % {"most": MAX_ALLOWED_NETWORKS})
        networks, problems = [], []
        for text in typed:
            try:
                networks.append(normalize_network(text))
            except ValueError as error:
                problems.append(f"{text}: {gettext(str(error))}")
        if problems:
            raise forms.ValidationError(problems)
        return networks
