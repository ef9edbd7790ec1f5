"""The dashboard form of an agent: name, mode, scopes (permissions), accounts, caps and webhook."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from agents.dashboard.forms import AGENT_SCOPE_LABELS, DEFAULT_SCOPES, MODE_LABELS, format_html_lazy, scope_checkboxes_field
from agents.models import Agent
from agents.serializers import MAX_INT32
from config.api.caller import AgentMode
from config.api.fields import MAX_INT64
from config.api.webhook_url import MAX_LENGTH
from posts.selectors import accounts_selectable_for_post
from workspaces.workspace_page import WorkspacePage

ALL_ACCOUNTS, CHOSEN_ACCOUNTS = "all", "chosen"


def agent_mode_choices(*modes: AgentMode) -> list[tuple[str, SafeString]]:
    """Return the choices of the agent's mode in the dashboard form, with what each mode means."""
    return [(mode, format_html_lazy("<span><strong>{}</strong><br>{}</span>", *MODE_LABELS[mode])) for mode in modes]


class BaseAgentForm(forms.Form):
    """The dashboard form fields that all forms of an agent share: its name, and the accounts that it may be limited to."""

    name = forms.CharField(
        max_length=200, label=_("Name"), help_text=_("Shown in the log and with the agent's posts and approvals.")
    )
    accounts_from = forms.ChoiceField(
        label=_("Where it may post"),
        choices=[
            (ALL_ACCOUNTS, _("On every account, also those that are connected later")),
            (CHOSEN_ACCOUNTS, _("Only on these accounts:")),
        ],
        widget=forms.RadioSelect,
        initial=ALL_ACCOUNTS,
    )
    accounts = forms.MultipleChoiceField(required=False, label=_("Accounts"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, data: Any = None, *, accounts: Iterable[tuple[str, str]], initial: dict[str, Any]) -> None:
        super().__init__(data, initial=initial)
        self.fields["accounts"].choices = list(accounts)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = dict(super().clean() or {})
        if cleaned.get("accounts_from") == CHOSEN_ACCOUNTS and not cleaned.get("accounts") and "accounts" not in self.errors:
            self.add_error("accounts", _("Choose at least one account, or allow every account."))
        return cleaned

    @property
    def account_allowlist(self) -> list[str] | None:
        """Return the accounts to which the agent of this form is limited; None if it may use all accounts."""
        typed = self.cleaned_data
        return typed["accounts"] if typed["accounts_from"] == CHOSEN_ACCOUNTS else None


class AgentForm(BaseAgentForm):
    """The dashboard form to create or change an agent. `accounts` are the social media accounts that it may be limited to.

    `agent` is the agent to change.

    The initial values are submitted as hidden fields, so that `changes` holds only what this user changed.
    """

    description = forms.CharField(
        required=False, max_length=2000, label=_("What it is for"), widget=forms.Textarea({"rows": 2, "class": "short"})
    )
    default_mode = forms.ChoiceField(
        label=_("How far it may go"),
        choices=lambda: agent_mode_choices(*MODE_LABELS),
        widget=forms.RadioSelect,
        initial=AgentMode.REQUIRES_CONFIRMATION,
    )
    scopes = scope_checkboxes_field(AGENT_SCOPE_LABELS, _("What it may do"))
    monthly_spend = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=Decimal(MAX_INT64) / 100,
        decimal_places=2,
        label=_("Dollars in a month"),
        help_text=_("Empty: only the workspace's cap applies."),
    )
    posts_per_day_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_INT32,
        label=_("Posts in a day"),
        help_text=_("Counted by account and UTC day."),
    )
    monthly_social_url_post_cap = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_INT64,
        label=_("Posts with a link in a month"),
        help_text=_("On platforms that charge more for links."),
    )
    rate_limit_per_minute = forms.IntegerField(
        required=False, min_value=1, label=_("Requests in a minute"), help_text=_("Empty: the limit of every key.")
    )
    webhook_url = forms.CharField(
        required=False,
        max_length=MAX_LENGTH,
        label=_("Webhook address"),
        help_text=_("Receives the events of its posts. Must begin with https://."),
        widget=forms.URLInput,
    )

    def __init__(self, data: Any = None, *, accounts: Iterable[tuple[str, str]], agent: Agent | None = None) -> None:
        super().__init__(data, accounts=accounts, initial=_initial_values(agent) if agent else {"scopes": DEFAULT_SCOPES})
        for field in self.fields.values() if agent else ():
            field.show_hidden_initial = True

    @property
    def arguments_for_create_agent(self) -> dict[str, Any]:
        """Return all values of the dashboard's agent form as keyword arguments for `create_agent`."""
        typed = self.cleaned_data
        names = ("posts_per_day_cap", "monthly_social_url_post_cap", "rate_limit_per_minute")
        return {
            "name": typed["name"],
            "description": typed["description"] or None,
            "default_mode": typed["default_mode"],
            "scopes": typed["scopes"],
            "account_allowlist": self.account_allowlist,
            "monthly_spend_cap_cents": None if typed["monthly_spend"] is None else int(typed["monthly_spend"] * 100),
            **{name: typed[name] for name in names},
            "webhook_url": typed["webhook_url"] or None,
        }

    @property
    def changed_arguments_for_update_agent(self) -> dict[str, Any]:
        """Return the changed values of the dashboard's agent form as keyword arguments for `update_agent`."""
        inputs = {"account_allowlist": {"accounts_from", "accounts"}, "monthly_spend_cap_cents": {"monthly_spend"}}
        changed = set(self.changed_data)
        return {name: value for name, value in self.arguments_for_create_agent.items() if changed & inputs.get(name, {name})}


def _initial_values(agent: Agent) -> dict[str, Any]:
    """Return an agent's current settings as the initial values of the dashboard form that changes the agent."""
    names = ("name", "description", "default_mode", "scopes", "webhook_url")
    caps = ("posts_per_day_cap", "monthly_social_url_post_cap")
    cents = agent.monthly_spend_cap_cents
    return {
        **{name: getattr(agent, name) for name in (*names, *caps)},
        "rate_limit_per_minute": agent.capped_rate_limit_per_minute,
        "monthly_spend": None if cents is None else f"{Decimal(cents) / 100:.2f}",
        "accounts_from": ALL_ACCOUNTS if agent.account_allowlist is None else CHOSEN_ACCOUNTS,
        "accounts": agent.account_allowlist or [],
    }


def account_choices(page: WorkspacePage, chosen: list[str] | tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return the accounts that the dashboard form of an agent offers, including chosen ones that were deleted since."""
    rows = accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id, chosen=chosen)
    named = {row.id: _account_name(row) for row in rows}
    return list(({each: gettext("Deleted account (%(id)s)") % {"id": each} for each in chosen} | named).items())


def _account_name(account: ConnectedAccount) -> str:
    remarks = [gettext("sandbox")] if account.sandbox else []
    if account.status == ConnectedAccount.Status.DISCONNECTED:
        remarks.append(gettext("disconnected"))
    name = f"{get_adapter(account.platform).label}: {account.handle or account.external_id}"
    return " ".join([name, *(f"({remark})" for remark in remarks)])
