"""E-mails about posts of series that could not be scheduled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount
from config.notices.sending import create_and_queue_notices
from tests.conftest import ApiClient
from tests.notices.rounds import real_account, send_emails
from tests.posts.rows import NOON
from tests.posts.series.rows import create_series, run_series_loop
from workspaces.models import Workspace


@pytest.fixture
def refused(api: ApiClient, workspace: Workspace) -> Any:
    """A weekly series whose post cannot be scheduled, in a service that has been running."""
    with time_machine.travel(NOON, tick=False) as clock:
        create_and_queue_notices()
        clock.shift(timedelta(hours=1))
        series = create_series(api, real_account(workspace), name="Weekly", rrule="FREQ=WEEKLY;BYDAY=FR")
        ConnectedAccount.objects.update(status="disconnected")
        run_series_loop()
        yield series


def test_owner_learns_of_a_refused_post_once(refused: dict[str, Any], workspace: Workspace) -> None:
    [message] = [each for each in send_emails() if "series" in each.subject]

    assert message.subject == "A post of a series of Workshop could not be scheduled"
    assert message.to == [workspace.owner_user.email]
    assert "- Weekly, 12 Mar 2027, " in message.body
    assert [each for each in send_emails() if "series" in each.subject] == []


def test_skipped_post_is_not_reported(refused: dict[str, Any], api: ApiClient) -> None:
    assert api.post(f"/series/{refused['id']}/skip", {"at": refused["next"][0]["at"]}).status_code == 200

    assert [each for each in send_emails() if "series" in each.subject] == []
