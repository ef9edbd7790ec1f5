"""The dashboard forms of agents and API keys, with the labels of scopes (permissions) and agent modes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.models import Agent
from agents.networks import MAX_ALLOWED_NETWORKS, parse_network
from agents.serializers import INT32
from config.api.caller import AgentMode
from config.api.fields import INT64
from config.api.webhook_url import MAX_LENGTH

DEFAULT_SCOPES = ("posts.read", "posts.draft", "posts.schedule", "posts.publish", "media.upload", "accounts.read")
ALL_ACCOUNTS, CHOSEN_ACCOUNTS = "all", "chosen"
MAX_YEAR = 2200

# What a workspace key with the scope may do, in the order of config/api/scopes.py.
KEY_SCOPE_LABELS = {
    "posts.read": "See posts, their results, and their webhook deliveries",
    "posts.draft": "Write drafts",
    "posts.schedule": "Schedule posts, and cancel scheduled ones",
    "posts.publish": "Publish posts, send failed ones again, and repeat webhook deliveries",
    "media.upload": "Upload and delete pictures, videos and files",
    "accounts.read": "See the connected accounts, and check whether they work",
    "accounts.write": "Connect and disconnect accounts",
    "usage.read": "See usage and costs",
    "logs.read": "Read the audit log",
    "api_keys.write": "Administer: agents, API keys, budget caps, the webhook signing secret, "
    "export and deletion of the workspace",
}
AGENT_SCOPE_LABELS = KEY_SCOPE_LABELS | {"api_keys.write": "Nothing: agents cannot administer"}

# (name, description) of each mode, from the most to the least restricted.
MODE_LABELS = {
    AgentMode.DRY_RUN: ("Only tries things", "It sees what would happen. Nothing is saved, scheduled or published."),
    AgentMode.DRAFT: ("Writes drafts", "It saves drafts. A person decides whether to publish them."),
    AgentMode.REQUIRES_CONFIRMATION: (
        "Asks first",
        "What it publishes or schedules waits under Approvals until a person says yes.",
    ),
    AgentMode.ALLOW_PUBLISH: ("Publishes by itself", "It publishes and schedules without asking, within its caps."),
}


def _choice_label(name: str, meaning: str) -> SafeString:
    return format_html("<span><strong>{}</strong><br>{}</span>", name, meaning)


def _scope_field(labels: Mapping[str, str], label: str) -> forms.MultipleChoiceField:
    choices = [(scope, format_html("<span>{} <code>{}</code></span>", meaning, scope)) for scope, meaning in labels.items()]
    return forms.MultipleChoiceField(label=label, choices=choices, widget=forms.CheckboxSelectMultiple)


class AgentForm(forms.Form):
    """The dashboard form to create or change an agent. `accounts` are the social media accounts that it may be limited to.

    `agent` is the agent to change.

    The initial values are submitted as hidden fields, so that `changes` holds only what this user changed.
    """

    name = forms.CharField(
        max_length=200, label="Name", help_text="Shown in the log and with the agent's posts and approvals."
    )
    description = forms.CharField(
        required=False, max_length=2000, label="What it is for", widget=forms.Textarea({"rows": 2, "class": "short"})
    )
    default_mode = forms.ChoiceField(
        label="How far it may go",
        choices=[(mode, _choice_label(*label)) for mode, label in MODE_LABELS.items()],
        widget=forms.RadioSelect,
        initial=AgentMode.REQUIRES_CONFIRMATION,
    )
    scopes = _scope_field(AGENT_SCOPE_LABELS, "What it may do")
    accounts_from = forms.ChoiceField(
        label="Where it may post",
        choices=[
            (ALL_ACCOUNTS, "On every account, also those that are connected later"),
            (CHOSEN_ACCOUNTS, "Only on these accounts:"),
        ],
        widget=forms.RadioSelect,
        initial=ALL_ACCOUNTS,
    )
    accounts = forms.MultipleChoiceField(required=False, label="Accounts", widget=forms.CheckboxSelectMultiple)
    monthly_spend = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=Decimal(INT64) / 100,
        decimal_places=2,
        label="Dollars in a month",
        help_text="Empty: only the workspace's cap applies.",
    )
    posts_per_day_cap = forms.IntegerField(
        required=False, min_value=1, max_value=INT32, label="Posts in a day", help_text="Counted by account and UTC day."
    )
    monthly_social_url_post_cap = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=INT64,
        label="Posts with a link in a month",
        help_text="On platforms that charge more for links.",
    )
    rate_limit_per_minute = forms.IntegerField(
        required=False, min_value=1, label="Requests in a minute", help_text="Empty: the limit of every key."
    )
    webhook_url = forms.CharField(
        required=False,
        max_length=MAX_LENGTH,
        label="Webhook address",
        help_text="Receives the events of its posts. Must begin with https://.",
        widget=forms.URLInput,
    )

    def __init__(self, data: Any = None, *, accounts: Iterable[tuple[str, str]], agent: Agent | None = None) -> None:
        super().__init__(data, initial=_initial_values(agent) if agent else {"scopes": DEFAULT_SCOPES})
        self.fields["accounts"].choices = list(accounts)  # type: ignore[attr-defined]
        for field in self.fields.values() if agent else ():
            field.show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        cleaned = dict(super().clean() or {})
        if cleaned.get("accounts_from") == CHOSEN_ACCOUNTS and not cleaned.get("accounts") and "accounts" not in self.errors:
            self.add_error("accounts", "Choose at least one account, or allow every account.")
        return cleaned

    @property
    def all_agent_fields(self) -> dict[str, Any]:
        """Return all values of the dashboard's agent form as keyword arguments for `create_agent`."""
        typed = self.cleaned_data
        names = ("posts_per_day_cap", "monthly_social_url_post_cap", "rate_limit_per_minute")
        return {
            "name": typed["name"],
            "description": typed["description"] or None,
            "default_mode": typed["default_mode"],
            "scopes": typed["scopes"],
            "account_allowlist": typed["accounts"] if typed["accounts_from"] == CHOSEN_ACCOUNTS else None,
            "monthly_spend_cap_cents": None if typed["monthly_spend"] is None else int(typed["monthly_spend"] * 100),
            **{name: typed[name] for name in names},
            "webhook_url": typed["webhook_url"] or None,
        }

    @property
    def changes(self) -> dict[str, Any]:
        """Return the changed values of the dashboard's agent form as keyword arguments for `update_agent`."""
        inputs = {"account_allowlist": {"accounts_from", "accounts"}, "monthly_spend_cap_cents": {"monthly_spend"}}
        changed = set(self.changed_data)
        return {name: value for name, value in self.all_agent_fields.items() if changed & inputs.get(name, {name})}


def _initial_values(agent: Agent) -> dict[str, Any]:
    """Return an agent's current settings as the initial values of the dashboard form that changes the agent."""
    names = ("name", "description", "default_mode", "scopes", "webhook_url")
    caps = ("posts_per_day_cap", "monthly_social_url_post_cap")
    cents = agent.monthly_spend_cap_cents
    return {
        **{name: getattr(agent, name) for name in (*names, *caps)},
        "rate_limit_per_minute": agent.effective_rate_limit,
        "monthly_spend": None if cents is None else f"{Decimal(cents) / 100:.2f}",
        "accounts_from": ALL_ACCOUNTS if agent.account_allowlist is None else CHOSEN_ACCOUNTS,
        "accounts": agent.account_allowlist or [],
    }


class ApiKeyForm(forms.Form):
    """The dashboard form to create a workspace API key: name, scopes (permissions), last valid day, allowed networks.

    The key expires at the end of that day in the workspace's time zone.
    """

    name = forms.CharField(max_length=200, label="Name", help_text="For example where it is used.")
    scopes = _scope_field(KEY_SCOPE_LABELS, "What it opens")
    expires_at = forms.DateField(
        required=False,
        label="Last day it works",
        help_text="Empty: works until it is revoked.",
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    allowed_networks = forms.CharField(
        required=False,
        max_length=100 * MAX_ALLOWED_NETWORKS,
        label="Networks it may be used from",
        help_text=f"One per line, at most {MAX_ALLOWED_NETWORKS}, such as 203.0.113.0/24 or 2001:db8::/32. Empty: any.",
        widget=forms.Textarea({"rows": 3, "class": "short"}),
    )

    def __init__(self, data: Any = None, *, zone: ZoneInfo) -> None:
        super().__init__(data, initial={"scopes": DEFAULT_SCOPES})
        self.zone = zone
        if settings.API_KEY_DEFAULT_DAYS:
            self.fields["expires_at"].help_text = f"Empty: works for {settings.API_KEY_DEFAULT_DAYS} days."

    def clean_expires_at(self) -> datetime | None:
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        if day.year > MAX_YEAR:
            raise forms.ValidationError("Choose an earlier day, or leave it empty.")
        return datetime.combine(day + timedelta(days=1), time.min, self.zone)

    def clean_allowed_networks(self) -> list[str]:
        typed = self.cleaned_data["allowed_networks"].replace(",", " ").split()
        if len(typed) > MAX_ALLOWED_NETWORKS:
            raise forms.ValidationError(f"Enter at most {MAX_ALLOWED_NETWORKS} networks.")
        networks, problems = [], []
        for text in typed:
            try:
                networks.append(parse_network(text))
            except ValueError as error:
                problems.append(f"{text}: {error}")
        if problems:
            raise forms.ValidationError(problems)
        return networks
