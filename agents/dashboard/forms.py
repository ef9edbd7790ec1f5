"""The forms of agents and API keys: what people type, as the services take it."""

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

from agents.dashboard.words import AGENT_SCOPES, KEY_SCOPES, MODES
from agents.models import Agent
from agents.networks import MAX_ALLOWED, parse_network
from agents.serializers import INT32
from config.api.caller import Mode
from config.api.fields import INT64
from config.api.webhook_url import MAX_LENGTH

USUAL_SCOPES = ("posts.read", "posts.draft", "posts.schedule", "posts.publish", "media.upload", "accounts.read")
ALL, CHOSEN = "all", "chosen"
LAST_YEAR = 2200


def _explained(name: str, meaning: str) -> SafeString:
    return format_html("<span><strong>{}</strong><br>{}</span>", name, meaning)


def _scopes(words: Mapping[str, str], label: str) -> forms.MultipleChoiceField:
    choices = [(scope, format_html("<span>{} <code>{}</code></span>", told, scope)) for scope, told in words.items()]
    return forms.MultipleChoiceField(label=label, choices=choices, widget=forms.CheckboxSelectMultiple)


class AgentForm(forms.Form):
    """An agent's settings. `accounts` are the accounts to choose from, by id and name; `agent` is the one to be changed.

    What was shown goes along hidden, so that `changes` holds what this person changed, whatever others did meanwhile.
    """

    name = forms.CharField(
        max_length=200, label="Name", help_text="It stands in the log and beside what the agent asks."
    )
    description = forms.CharField(
        required=False, max_length=2000, label="What it is for", widget=forms.Textarea({"rows": 2, "class": "short"})
    )
    default_mode = forms.ChoiceField(
        label="How far it may go",
        choices=[(mode, _explained(*words)) for mode, words in MODES.items()],
        widget=forms.RadioSelect,
        initial=Mode.REQUIRES_CONFIRMATION,
    )
    scopes = _scopes(AGENT_SCOPES, "What it may do")
    accounts_from = forms.ChoiceField(
        label="Where it may post",
        choices=[(ALL, "On every account, also those that are connected later"), (CHOSEN, "Only on these accounts:")],
        widget=forms.RadioSelect,
        initial=ALL,
    )
    accounts = forms.MultipleChoiceField(required=False, label="Accounts", widget=forms.CheckboxSelectMultiple)
    monthly_spend = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=Decimal(INT64) / 100,
        decimal_places=2,
        label="Dollars in a month",
        help_text="Empty: as the workspace's own cap allows.",
    )
    posts_per_day_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=INT32,
        label="Posts in a day",
        help_text="Counted by account and UTC day.",
    )
    monthly_social_url_post_cap = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=INT64,
        label="Posts with a link in a month",
        help_text="On platforms that charge more for links.",
    )
    rate_limit_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        label="Requests in a minute",
        help_text="Empty: as many as any key.",
    )
    webhook_url = forms.CharField(
        required=False,
        max_length=MAX_LENGTH,
        label="Webhook address",
        help_text="Gets the events of its posts. Begins with https://.",
        widget=forms.URLInput,
    )

    def __init__(self, data: Any = None, *, accounts: Iterable[tuple[str, str]], agent: Agent | None = None) -> None:
        super().__init__(data, initial=_shown(agent) if agent else {"scopes": USUAL_SCOPES})
        self.fields["accounts"].choices = list(accounts)  # type: ignore[attr-defined]
        for field in self.fields.values() if agent else ():
            field.show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        cleaned = dict(super().clean() or {})
        if cleaned.get("accounts_from") == CHOSEN and not cleaned.get("accounts") and "accounts" not in self.errors:
            self.add_error("accounts", "Choose at least one account, or allow every account.")
        return cleaned

    @property
    def settings(self) -> dict[str, Any]:
        """Everything, as create_agent takes it."""
        typed = self.cleaned_data
        names = ("posts_per_day_cap", "monthly_social_url_post_cap", "rate_limit_per_minute")
        return {
            "name": typed["name"],
            "description": typed["description"] or None,
            "default_mode": typed["default_mode"],
            "scopes": typed["scopes"],
            "account_allowlist": typed["accounts"] if typed["accounts_from"] == CHOSEN else None,
            "monthly_spend_cap_cents": None if typed["monthly_spend"] is None else int(typed["monthly_spend"] * 100),
            **{name: typed[name] for name in names},
            "webhook_url": typed["webhook_url"] or None,
        }

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from what was shown, as update_agent takes it."""
        inputs = {"account_allowlist": {"accounts_from", "accounts"}, "monthly_spend_cap_cents": {"monthly_spend"}}
        changed = set(self.changed_data)
        return {name: value for name, value in self.settings.items() if changed & inputs.get(name, {name})}


def _shown(agent: Agent) -> dict[str, Any]:
    """The agent's settings as the form's inputs hold them."""
    names = ("name", "description", "default_mode", "scopes", "webhook_url")
    caps = ("posts_per_day_cap", "monthly_social_url_post_cap")
    cents = agent.monthly_spend_cap_cents
    return {
        **{name: getattr(agent, name) for name in (*names, *caps)},
        "rate_limit_per_minute": agent.effective_rate_limit,
        "monthly_spend": None if cents is None else f"{Decimal(cents) / 100:.2f}",
        "accounts_from": ALL if agent.account_allowlist is None else CHOSEN,
        "accounts": agent.account_allowlist or [],
    }


class ApiKeyForm(forms.Form):
    """A workspace key to be made; its last day ends on the workspace's clocks."""

    name = forms.CharField(max_length=200, label="Name", help_text="Where it is used, so that you know it again.")
    scopes = _scopes(KEY_SCOPES, "What it opens")
    expires_at = forms.DateField(
        required=False,
        label="Last day it works",
        help_text="Empty: until somebody revokes it.",
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    allowed_networks = forms.CharField(
        required=False,
        max_length=100 * MAX_ALLOWED,
        label="Networks it may be used from",
        help_text=f"One on each line, at most {MAX_ALLOWED}, such as 203.0.113.0/24 or 2001:db8::/32. Empty: anywhere.",
        widget=forms.Textarea({"rows": 3, "class": "short"}),
    )

    def __init__(self, data: Any = None, *, zone: ZoneInfo) -> None:
        super().__init__(data, initial={"scopes": USUAL_SCOPES})
        self.zone = zone
        if settings.API_KEY_DEFAULT_DAYS:
            self.fields["expires_at"].help_text = f"Empty: it ends after {settings.API_KEY_DEFAULT_DAYS} days."

    def clean_expires_at(self) -> datetime | None:
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        if day.year > LAST_YEAR:
            raise forms.ValidationError("Choose an earlier day, or leave it empty.")
        return datetime.combine(day + timedelta(days=1), time.min, self.zone)

    def clean_allowed_networks(self) -> list[str]:
        typed = self.cleaned_data["allowed_networks"].replace(",", " ").split()
        if len(typed) > MAX_ALLOWED:
            raise forms.ValidationError(f"Name at most {MAX_ALLOWED} networks.")
        networks, problems = [], []
        for text in typed:
            try:
                networks.append(parse_network(text))
            except ValueError as error:
                problems.append(f"{text}: {error}")
        if problems:
            raise forms.ValidationError(problems)
        return networks
