"""What is done with connected accounts."""

from __future__ import annotations

from accounts.services.check import check_account
from accounts.services.connect import connect_account, disconnect_account
from accounts.services.tokens import mark_needs_reauth, refresh_grant

__all__ = ["check_account", "connect_account", "disconnect_account", "mark_needs_reauth", "refresh_grant"]
