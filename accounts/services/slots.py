"""Changes of the slots (weekly publishing times) of connected accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction

from accounts import selectors
from accounts.models import ConnectedAccount
from accounts.slots import sorted_unique_slots
from auditlog.services import record_entry
from config.api.caller import Caller, check_account_allowlist
from config.api.plan import ResourcePlan, accept_plan, row_fields


def update_slots(
    *, caller: Caller, account_id: str, timezone: str, slots: Iterable[Mapping[str, str]], dry_run: bool = False
) -> ConnectedAccount:
    """Replace all slots of a connected account; posts that are scheduled already keep their times.

    Raises NotFound, ScopeMissing, AccountNotAllowed, WorkspacePaused, PlanChanged.
    """
    account = selectors.get_accessible_account(caller=caller, account_id=account_id, scope="accounts.write", write=True)
    check_account_allowlist(caller, [account.id])
    with transaction.atomic():
        stored = ConnectedAccount.objects.select_for_update(no_key=True).get(pk=account.pk)
        before = row_fields(stored, "slot_timezone", "slots")
        account.slot_timezone, account.slots = timezone, sorted_unique_slots(slots)
        accept_plan(ResourcePlan("accounts.update_slots", account.id, before, row_fields(account, *before)))
        if not dry_run:
            account.save(update_fields=["slot_timezone", "slots", "updated_at"])
        record_entry(
            caller=caller,
            operation="accounts.update_slots",
            resource_type="account",
            resource_id=account.id,
            dry_run=dry_run,
            metadata={"slots": len(account.slots), "timezone": timezone},
        )
    return account
