"""The admin action by which operators check connected accounts at their platforms."""

from __future__ import annotations

from accounts.models import ConnectedAccount
from tests.console.operators import act
from tests.people import console


def test_the_admin_action_checks_an_account_at_its_platform(account: ConnectedAccount) -> None:
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")
    messages = act(console(), "check_credentials_at_platform", account)

    assert messages == [f"Asked; the status is what the platform said: {account.id}."]
    now = ConnectedAccount.objects.get(pk=account.pk)
    assert (now.status, now.last_checked_at is None) == ("active", False)
