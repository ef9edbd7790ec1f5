"""Services that connect, check, renew and disconnect accounts on social platforms."""

from __future__ import annotations

from accounts.services.avatars import fetch_due_avatars
from accounts.services.check import verify_and_update_account
from accounts.services.connect import connect_account_or_begin_oauth
from accounts.services.connection_attempts import (
    BegunConnectionAttempt,
    purge_connection_attempts,
    stored_url_and_state_if_unused,
)
from accounts.services.disconnect import disconnect_account, disconnect_accounts_of_deleted_workspaces
from accounts.services.oauth_completion import (
    AccountChoices,
    attach_chosen_account,
    complete_connection,
    exchange_code_for_account_choices,
)
from accounts.services.pace import delay_posts_to_account, reserve_publishing_times
from accounts.services.people import find_people
from accounts.services.slots import update_slots
from accounts.services.tokens import (
    RenewalInProgress,
    mark_needs_reauth_unless_renewed,
    renew_expiring_tokens,
    renew_or_await_tokens,
)
