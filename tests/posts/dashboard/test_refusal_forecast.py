"""The composer's check says what a post costs, what is left, and what would refuse it."""

from __future__ import annotations

import pytest
from django.utils import timezone

from billing.caps import first_day_of_utc_month
from billing.models import MonthCounter
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from workspaces.models import Workspace


def test_the_check_shows_the_price(dashboard: Dashboard, workspace: Workspace) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False, platform="x")

    part = dashboard.compose("check", real, text="See https://example.com", live=True)

    assert "It costs $0.20. $1.00 of this month's spend cap is left." in words(part)


def test_the_check_says_that_the_spend_cap_would_refuse_the_post(dashboard: Dashboard, workspace: Workspace) -> None:
    Workspace.objects.update(free_monthly_credit_cents=5)
    real = AccountFactory(workspace=workspace, sandbox=False, platform="x")

    part = dashboard.compose("check", real, text="See https://example.com", live=True)

    assert "It costs $0.20. $0.05 of this month's spend cap is left. It would be refused: This would exceed" in words(part)


@pytest.mark.parametrize(
    ("caps", "expected"),
    [
        ({"monthly_social_url_post_cap": 0}, "It would be refused: The month's number of posts with links is used up."),
        ({"monthly_social_url_post_cap": 1}, ""),
    ],
)
def test_the_check_says_whether_the_cap_on_links_would_refuse_the_post(
    dashboard: Dashboard, workspace: Workspace, caps: dict[str, int], expected: str
) -> None:
    Workspace.objects.update(**caps)
    real = AccountFactory(workspace=workspace, sandbox=False, platform="x")

    part = dashboard.compose("check", real, text="See https://example.com", live=True)

    assert ("It would be refused" in words(part)) == bool(expected)
    assert expected in words(part)


@pytest.mark.parametrize(("own_time", "refused"), [("2027-04-05T09:00", False), ("2027-03-11T09:00", True)])
def test_the_check_counts_an_account_in_the_month_of_its_own_time(
    dashboard: Dashboard, workspace: Workspace, own_time: str, refused: bool
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=10)
    MonthCounter.objects.create(holder_id=workspace.id, month=first_day_of_utc_month(timezone.now()), settled_cents=10)
    real = AccountFactory(workspace=workspace, sandbox=False, platform="bluesky")

    part = dashboard.compose("check", real, text="Hello", live=True, **{f"time-{real.id}-when": own_time})

    assert ("It would be refused" in words(part)) == refused
