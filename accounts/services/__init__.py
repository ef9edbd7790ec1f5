"""What is done with connected accounts."""

from __future__ import annotations

from accounts.services.check import check_account
from accounts.services.connect import connect_account
from accounts.services.disconnect import disconnect_account, disconnect_accounts_of_deleted_workspaces
from accounts.services.oauth import complete_connection
from accounts.services.pace import hold_back, take_turn
from accounts.services.tokens import mark_needs_reauth, refresh_grant

__all__ = [
    "check_account",
    "complete_connection",
    "connect_account",
    "disconnect_account",
    "disconnect_accounts_of_deleted_workspaces",
    "hold_back",
    "mark_needs_reauth",
    "refresh_grant",
    "take_turn",
]
