"""Limits on a workspace's free credit and on the number of workspaces of one owner."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user, sign_in_here
from tests.workspaces.browsers import send_form
from workspaces.models import Member, User, Workspace

END_OF_MARCH = datetime(2027, 3, 31, 23, 59, 59, tzinfo=UTC)
APRIL = END_OF_MARCH + timedelta(seconds=1)


def create(client: ApiClient, owner: User, **fields: Any) -> Any:
    return client.post("/workspaces", {"owner_user_id": owner.id, "name": "Acme Labs", **fields})


@pytest.mark.parametrize("cents", [101, 10**15, 2**63 - 1])
def test_free_credit_is_limited_by_the_setting(api: ApiClient, owner: User, cents: int) -> None:
    for client in (as_user(owner), api):
        for dry_run in (True, False):
            answer = create(client, owner, free_monthly_credit_cents=cents, dry_run=dry_run)
            [detail] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
            assert (detail["field"], detail["code"]) == ("free_monthly_credit_cents", "max_value")
    assert (Workspace.objects.count(), ConnectedAccount.objects.count()) == (1, 0)


def test_a_caller_may_choose_free_credit_up_to_the_setting(owner: User, settings: Settings) -> None:
    settings.MAX_FREE_CREDIT_CENTS = 250

    made = create(as_user(owner), owner, free_monthly_credit_cents=250).json()["workspace"]
    assert made["free_monthly_credit_cents"] == 250


def owned(owner: User, number: int, **fields: Any) -> list[Workspace]:
    made: list[Workspace] = factories.WorkspaceFactory.create_batch(number, owner_user=owner, **fields)
    return made


def assert_too_many(answer: Any) -> None:
    assert_envelope(answer, 409, "CONFLICT")


def test_one_person_owns_at_most_twenty_workspaces(api: ApiClient, owner: User, teammate: User, stranger: User) -> None:
    owned(owner, 18)
    assert create(as_user(owner), owner).status_code == 201

    for client in (as_user(owner), api):
        for dry_run in (True, False):
            assert_too_many(create(client, owner, dry_run=dry_run))
    assert Workspace.objects.filter(owner_user=owner).count() == 20
    for person in (teammate, stranger):
        assert create(as_user(person), person).status_code == 201


def test_a_deleted_workspace_counts_until_the_end_of_the_utc_month(owner: User, settings: Settings) -> None:
    settings.MAX_WORKSPACES_PER_OWNER = 2
    with time_machine.travel(END_OF_MARCH, tick=False) as clock:
        client = as_user(owner)
        first, _ = (create(client, owner).json()["workspace"]["id"] for _ in range(2))
        assert client.delete(f"/workspaces/{first}").status_code == 200
        assert_too_many(create(client, owner))
        clock.move_to(APRIL)
        assert create(client, owner).status_code == 201
        assert_too_many(create(client, owner))


def test_a_paused_workspace_counts(owner: User, settings: Settings) -> None:
    settings.MAX_WORKSPACES_PER_OWNER = 1
    owned(owner, 1, status="paused")

    assert_too_many(create(as_user(owner), owner))


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_do_not_exceed_the_limit(owner: User, settings: Settings) -> None:
    settings.MAX_WORKSPACES_PER_OWNER = 3
    owned(owner, 1)

    answers = in_threads(8, lambda _: create(as_user(owner), owner))

    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [409] * 6
    assert Workspace.objects.filter(owner_user=owner).count() == 3
    assert Member.objects.filter(user=owner, role="owner").count() >= 2


def test_a_workspace_cannot_be_handed_over_beyond_the_limit(
    workspace: Workspace, owner: User, teammate: User, settings: Settings
) -> None:
    settings.MAX_WORKSPACES_PER_OWNER = 1
    page = f"/dashboard/workspaces/{workspace.id}/members"
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, owner)
    [other] = owned(teammate, 1)

    send_form(browser, page, f"{page}/hand-over", user_id=teammate.id)
    assert "has reached the limit of 1 workspaces" in browser.get(page).content.decode()
    assert Workspace.objects.get(pk=workspace.pk).owner_user_id == owner.id
    assert AuditEntry.objects.get(operation="workspaces.hand_over").code == "CONFLICT"

    Workspace.objects.filter(pk=other.pk).update(status="deleted", updated_at=datetime(2026, 1, 1, tzinfo=UTC))
    send_form(browser, page, f"{page}/hand-over", user_id=teammate.id)
    assert Workspace.objects.get(pk=workspace.pk).owner_user_id == teammate.id


def test_the_dashboard_shows_the_limit_error(owner: User, settings: Settings) -> None:
    settings.MAX_WORKSPACES_PER_OWNER = 1
    owned(owner, 1)
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, owner)

    page = "/dashboard/?all=1"
    refused = send_form(browser, page, page, name="Acme Labs", default_timezone="UTC")
    assert refused.status_code == 422
    assert "has reached the limit of 1 workspaces" in refused.content.decode()
    assert Workspace.objects.count() == 1
    assert AuditEntry.objects.get(operation="workspaces.create").code == "CONFLICT"
