"""Reservations of money for posts, made on their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from billing.prices import PublishingCharge
from billing.services import build_money_hold_writes, run_writes_reserving_money


def hold_costs(
    *, workspace_id: str, agent_id: str | None, charges: Sequence[PublishingCharge], due: datetime, new: bool = False
) -> None:
    """Reserve the prices of posts due at one time. Raises the spend errors."""
    parts = [(due, charges)]
    failed = run_writes_reserving_money(
        build_money_hold_writes(workspace_id=workspace_id, agent_id=agent_id, charges_by_due=parts, new=new)
    )
    assert failed is None
