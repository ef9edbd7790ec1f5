"""Helpers for API calls with the provider's access tokens at a frozen time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

from config.db.ids import new_id
from tests.conftest import ApiClient

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
OPEN_TO_ALL = f"/workspaces?owner_user_id={new_id('usr')}"


def answer_to(token: str) -> Any:
    """Call an operation that is open to every authenticated caller, and return the response."""
    return ApiClient(token).get(OPEN_TO_ALL)


def later(**time_passed: float) -> Any:
    """Freeze the clock at a time after noon."""
    return time_machine.travel(NOON + timedelta(**time_passed), tick=False)
