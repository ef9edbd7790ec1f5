"""The form by which a person lets an OAuth client act as a new agent: workspace, accounts, mode, budget and last day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.oauth.grants import MAX_GRANT_DAYS
from config.api.caller import AgentMode
from config.api.fields import MAX_INT64
from config.home.agent_form import ALL_ACCOUNTS, CHOSEN_ACCOUNTS, BaseAgentForm, agent_mode_choices

DEFAULT_DAYS = 90
DEFAULT_DOLLARS = "5.00"
NEW_AGENT = "new"
FIELDS_OF_NEW_AGENT = ("name", "default_mode", "accounts_from", "accounts", "monthly_spend")


class ConsentForm(BaseAgentForm):
    """The consent form for an OAuth client's new agent; it proposes careful values, and requires a last day.

    The access ends at the end of that day in the workspace's time zone. `agents` are those as which the client was connected
    earlier: at first the latest is chosen, to be connected again with its settings.
    """

    agent_id = forms.ChoiceField(
        label=_("Connect it as"),
        help_text=_("An agent that you have keeps its limits and permissions. A connection that it still has ends."),
        widget=forms.RadioSelect,
    )

    default_mode = forms.ChoiceField(
        label=_("How far it may go"),
        choices=lambda: agent_mode_choices(AgentMode.DRAFT, AgentMode.REQUIRES_CONFIRMATION, AgentMode.ALLOW_PUBLISH),
        widget=forms.RadioSelect,
        initial=AgentMode.REQUIRES_CONFIRMATION,
    )
    monthly_spend = forms.DecimalField(
        min_value=0,
        max_value=Decimal(MAX_INT64) / 100,
        decimal_places=2,
        label=_("Dollars in a month"),
        help_text=_("The most that it may spend. The workspace's own cap applies too."),
        initial=DEFAULT_DOLLARS,
    )
    expires_on = forms.DateField(
        label=_("Last day"),
        help_text=_("Afterwards it has to ask again. You can end its access at any time before."),
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )

    def __init__(
        self, data: Any = None, *, accounts: Iterable[tuple[str, str]], agents: list[Agent], name: str, zone: ZoneInfo
    ) -> None:
        choices = list(accounts)
        self.zone, self.today = zone, timezone.localdate(timezone=zone)
        initial = {
            "agent_id": agents[0].id if agents else NEW_AGENT,
            "name": name,
            "accounts_from": CHOSEN_ACCOUNTS if choices else ALL_ACCOUNTS,
            "accounts": [account_id for account_id, _ in choices],
            "expires_on": self.today + timedelta(days=DEFAULT_DAYS),
        }
        super().__init__(data, accounts=choices, initial=initial)
        connected = [(agent.id, render_to_string("home/agent_as_before.html", {"agent": agent})) for agent in agents]
        self.fields["agent_id"].choices = [*connected, (NEW_AGENT, _("A new agent"))]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("agent_id", NEW_AGENT) != NEW_AGENT:
            for name in FIELDS_OF_NEW_AGENT:
                self.errors.pop(name, None)
        return cleaned

    def clean_expires_on(self) -> datetime:
        day: date = self.cleaned_data["expires_on"]
        if not self.today <= day < self.today + timedelta(days=MAX_GRANT_DAYS):
            raise forms.ValidationError(_("Choose a day within a year."))
        return datetime.combine(day + timedelta(days=1), time.min, self.zone)

    @property
    def arguments_for_allowing_client(self) -> dict[str, Any]:
        """Return the values of the consent form as keyword arguments for `allow_client_to_act_as_agent`."""
        typed = self.cleaned_data
        if typed["agent_id"] != NEW_AGENT:
            return {"agent_id": typed["agent_id"], "expires_at": typed["expires_on"]}
        return {
            "name": typed["name"],
            "default_mode": typed["default_mode"],
            "account_allowlist": self.account_allowlist,
            "monthly_spend_cap_cents": int(typed["monthly_spend"] * 100),
            "expires_at": typed["expires_on"],
        }
