"""Retention of the OAuth server's rows: what is never used does not stay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.test import Client

from agents.models import Agent, DeviceAuthorization, OAuthClient, OAuthGrant, OAuthToken
from tests.oauth_programs import Program
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock(settings: Any) -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def test_clients_and_device_codes_that_nobody_used_are_deleted(
    clock: time_machine.Traveller, browser: Client, program: Program
) -> None:
    program.connect(browser)
    unused = Program()
    unused.register()
    unused.begin_device_flow()
    clock.shift(timedelta(days=6))
    call_command("run_retention")
    assert (OAuthClient.objects.count(), DeviceAuthorization.objects.count()) == (2, 0)
    clock.shift(timedelta(days=1))
    call_command("run_retention")

    assert [client.client_id for client in OAuthClient.objects.all()] == [program.client_id]
    assert OAuthToken.objects.count() == 1


def test_tokens_are_deleted_when_they_can_no_longer_be_refreshed(
    clock: time_machine.Traveller, browser: Client, program: Program
) -> None:
    program.connect(browser)
    clock.shift(timedelta(days=30))
    call_command("run_retention")

    assert (OAuthToken.objects.count(), OAuthGrant.objects.count()) == (0, 1)


def test_all_rows_of_a_purged_workspace_are_deleted(clock: time_machine.Traveller, browser: Client, program: Program) -> None:
    program.connect(browser)
    Workspace.objects.update(status="deleted", updated_at=NOON)
    clock.shift(timedelta(days=31))
    for _ in range(2):
        call_command("run_retention")

    assert not Workspace.objects.exists()
    assert not Agent.objects.exists()
    assert not OAuthGrant.objects.exists()
    assert not OAuthClient.objects.exists()
