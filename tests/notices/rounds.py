"""Helpers of the tests of e-mail notices."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core import mail
from django.db.models import F

from accounts.models import ConnectedAccount
from config.runtime.tasks import send_notices
from posts.events import build_group_events
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.posts.rows import create
from webhooks.services import store_events_with_deliveries
from workspaces.models import Member, User, Workspace
from workspaces.worker_loop import MailLoop

NEXT_WEEK = "2027-03-17T12:00:00Z"


def real_account(workspace: Workspace, **fields: Any) -> ConnectedAccount:
    return factories.AccountFactory.create(workspace=workspace, sandbox=False, handle="alice.test", **fields)


def member(workspace: Workspace, role: str, **fields: Any) -> User:
    user = factories.UserFactory.create(**fields)
    Member.objects.create(workspace=workspace, user=user, role=role)
    return user


def scheduled(api: ApiClient, account: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    return create(api, account, text="Nobody may read this yet", scheduled_at=NEXT_WEEK, **fields)


def ended(group: dict[str, Any], status: str) -> None:
    """Set the group's status and store its event, as the publisher does."""
    PostGroup.objects.filter(pk=group["id"]).update(status=status, event_sequence=F("event_sequence") + 1)
    stored = PostGroup.objects.get(pk=group["id"])
    store_events_with_deliveries(build_group_events(stored, stored.targets.all(), [(f"post.{status}", None)]))


def decision_url(group: dict[str, Any], decision: str) -> str:
    """The address at which a person approves or rejects the post, bound to the plan that the group shows."""
    query = urlencode({"plan_hash": group["plan_hash"], "decision": decision})
    return f"{group['approval_url']}?{query}#review"


def send_emails() -> list[mail.EmailMessage]:
    """Run the notices task and send queued e-mail; return the e-mails sent."""
    mail.outbox = []
    send_notices()
    while MailLoop().run_once():
        pass
    return mail.outbox


def subjects() -> list[str]:
    return [str(message.subject) for message in send_emails()]
