"""The console's page of late posts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.utils import quote
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import ConnectedAccount
from config.console import status
from posts.models import PostGroup, PostTarget
from tests import factories
from tests.people import console
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def make_target(
    account: ConnectedAccount, *, minutes_late: float, group_status: str = "scheduled", **fields: Any
) -> PostTarget:
    """Create a scheduled target whose time has passed, and which is due since then unless `fields` say otherwise."""
    at = timezone.now() - timedelta(minutes=minutes_late)
    made = {"text": "Hello", "created_by_type": "user", "created_by_id": "usr_1", "trace_id": "1" * 32}
    group = PostGroup.objects.create(workspace=account.workspace, status=group_status, scheduled_at=at, **made)
    fields = {"status": "pending", "due_at": at, "scheduled_at": at, "content_sha256": "2" * 64, **fields}
    return PostTarget.objects.create(group=group, account=account, platform=account.platform, position=0, **fields)


def late(operator: Client) -> list[tuple[str, str]]:
    """Return (target, reason) of the page's posts, each of which links to its target, account and workspace."""
    page = operator.get(reverse("admin:late-posts"))
    html = page.content.decode()
    for post in page.context["late"]:
        for link, key in (
            ("posts_posttarget", post.target.pk),
            ("accounts_connectedaccount", post.target.account_id),
            ("workspaces_workspace", post.target.group.workspace_id),
        ):
            assert f'href="{reverse(f"admin:{link}_change", args=[quote(key)])}"' in html
    return [(post.target.pk, post.reason) for post in page.context["late"]]


def soon() -> datetime:
    return timezone.now() + timedelta(minutes=10)


def test_late_posts_are_listed_latest_first_with_their_reason(operator: Client, account: ConnectedAccount) -> None:
    status.record_heartbeat("publish")
    waiting = make_target(account, minutes_late=65)
    retried = make_target(account, minutes_late=50, status="retrying", due_at=soon(), error={"code": "PLATFORM_UNAVAILABLE"})
    turn = make_target(account, minutes_late=40, due_at=soon(), turn_at=soon())
    alone = make_target(account, minutes_late=30, status="publishing", lease_until=timezone.now() - timedelta(minutes=1))
    going = make_target(account, minutes_late=20, status="publishing", lease_until=soon())
    unknown = make_target(
        account, minutes_late=10, group_status="unconfirmed", status="unconfirmed", certainty="maybe_sent", due_at=None
    )

    found = late(operator)
    assert [pk for pk, _ in found] == [each.pk for each in (waiting, retried, turn, alone, going, unknown)]
    for (_, reason), words in zip(
        found,
        (
            "busy with other posts",
            "PLATFORM_UNAVAILABLE",
            "the turn is at",
            "worker has stopped",
            "being published",
            "unknown",
        ),
        strict=True,
    ):
        assert words in reason
    assert "1\xa0hour, 5\xa0minutes" in operator.get(reverse("admin:late-posts")).content.decode()


def test_a_pause_an_account_and_a_missing_worker_are_named(operator: Client, workspace: Workspace) -> None:
    held, broken, paused, plain = (factories.AccountFactory.create(workspace=workspace) for _ in range(4))
    other = factories.WorkspaceFactory.create(status="paused", operator_paused_at=timezone.now())
    ConnectedAccount.objects.filter(pk=held.pk).update(held_until=soon())
    ConnectedAccount.objects.filter(pk=broken.pk).update(status="needs_reauth")
    ConnectedAccount.objects.filter(pk=paused.pk).update(workspace=other)
    accounts = list(ConnectedAccount.objects.filter(pk__in=[held.pk, broken.pk, paused.pk, plain.pk]).order_by("pk"))
    for minutes, account in enumerate(accounts):
        make_target(account, minutes_late=10 - minutes)

    reasons = [reason for _, reason in late(operator)]
    for reason, words in zip(reasons, ("asked to wait", "needs_reauth", "paused by operator", "No worker runs"), strict=True):
        assert words in reason


def test_what_waits_for_a_person_or_its_time_is_not_late(operator: Client, account: ConnectedAccount) -> None:
    make_target(account, minutes_late=90, group_status="pending_confirmation", due_at=None)
    make_target(account, minutes_late=-5)
    make_target(account, minutes_late=0.5)
    make_target(account, minutes_late=90, group_status="published", status="published", certainty="confirmed", due_at=None)
    approved = make_target(account, minutes_late=0, scheduled_at=None)
    PostGroup.objects.filter(pk=approved.group_id).update(created_at=timezone.now() - timedelta(hours=3))

    assert late(operator) == []
    assert "No post is late" in operator.get(reverse("admin:late-posts")).content.decode()


def test_the_page_takes_few_queries_and_is_for_operators(operator: Client, account: ConnectedAccount) -> None:
    for minutes in range(2, 12):
        make_target(account, minutes_late=minutes)
    with CaptureQueriesContext(connection) as asked:
        assert len(late(operator)) == 10
    assert len(asked) <= 30
    User.objects.filter(username="operator").update(is_superuser=False)

    assert operator.get(reverse("admin:late-posts")).status_code == 403
