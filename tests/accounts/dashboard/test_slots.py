"""The dashboard page on which a person edits the slots of an account."""

from __future__ import annotations

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from tests.factories import AccountFactory
from tests.pages import Pages, words
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def test_slots_are_entered_by_weekday_and_shown_on_the_accounts_page(
    pages: Pages, workspace: Workspace, account: ConnectedAccount
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")
    empty = pages.get("account-slots", account_id=account.id)
    assert '<option value="Europe/Berlin" selected>' in empty.content.decode()

    entered = {"timezone": "Europe/Berlin", "mon": "9:00, 17:30  09:00", "sun": "10:00"}
    pages.post("account-slots", entered, account_id=account.id)

    account.refresh_from_db()
    assert account.slot_timezone == "Europe/Berlin"
    assert [(slot["weekday"], slot["time"]) for slot in account.slots] == [
        ("mon", "09:00"),
        ("mon", "17:30"),
        ("sun", "10:00"),
    ]
    shown = words(pages.get("account", account_id=account.id))
    assert "Monday 09:00, 17:30 Sunday 10:00 Time zone Europe/Berlin" in shown
    assert 'value="09:00 17:30"' in pages.get("account-slots", account_id=account.id).content.decode()
    assert AuditEntry.objects.filter(operation="accounts.update_slots", outcome="succeeded").count() == 1


TOO_MANY = " ".join(f"{n // 60:02}:{n % 60:02}" for n in range(101))


@pytest.mark.parametrize("entered", ["noon", "25:00", "09:60", "9", TOO_MANY])
def test_wrong_times_are_refused(pages: Pages, account: ConnectedAccount, entered: str) -> None:
    page = pages.post("account-slots", {"timezone": "UTC", "mon": entered}, account_id=account.id)

    assert page.status_code == 422
    assert ("is not a time of day" in words(page)) or ("at most 100 slots" in words(page))
    account.refresh_from_db()
    assert account.slots == []


def test_members_read_and_strangers_see_nothing(
    workspace: Workspace, account: ConnectedAccount, teammate: User, stranger: User
) -> None:
    member = Pages(workspace, teammate)
    assert "Save slots" not in words(member.get("account-slots", account_id=account.id))
    member.post("account-slots", {"timezone": "UTC", "mon": "09:00"}, account_id=account.id)
    assert Pages(workspace, stranger).get("account-slots", account_id=account.id).status_code == 404
    foreign = AccountFactory()
    assert member.get("account-slots", account_id=foreign.id).status_code == 404
    account.refresh_from_db()
    assert account.slots == []
