"""Entry of the connected accounts page in the dashboard's navigation menu."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from config.pages.navigation import MAX_SHOWN_COUNT, DashboardPage


def capped_count_of_accounts_to_reconnect(workspace_id: str) -> int:
    """Return the number of accounts that a person must connect again, for the navigation menu; counted up to a maximum.

    The maximum is MAX_SHOWN_COUNT + 1.
    """
    lost = ConnectedAccount.objects.filter(workspace_id=workspace_id, status=ConnectedAccount.Status.NEEDS_REAUTH)
    return lost[: MAX_SHOWN_COUNT + 1].count()


ACCOUNTS = DashboardPage(
    "accounts", _("Accounts"), "user-circle", _("Connections"), count_waiting=capped_count_of_accounts_to_reconnect
)
