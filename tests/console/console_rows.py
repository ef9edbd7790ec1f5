"""Creates one row of every table in the console, with a secret value wherever a row can contain one."""

from __future__ import annotations

import uuid
from datetime import date
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import Model
from django.utils import timezone
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from social_django.models import Association, Code, Nonce, Partial, UserSocialAuth

from accounts.models import Avatar, ConnectedAccount, ConnectionAttempt
from agents.models import Agent, ApiKey, ClaimToken, OAuthClient, OAuthGrant
from auditlog.services import record_entry
from billing.models import (
    BillingAlarm,
    Correction,
    DayCounter,
    LedgerEntry,
    MonthCounter,
    ProcessorEvent,
    Subscription,
    UsageReport,
    UsageTotal,
)
from config.api.caller import system_caller
from config.api.models import IdempotencyRecord
from config.console.models import SecondFactor
from config.jobs.models import Heartbeat
from config.notices.models import ChannelMessage, Digest, NewsCursor, Notice, NoticeChannel, NoticeChoice
from media.models import MediaAsset, MediaUsage, MediaUse, PendingFile
from posts.models import CalendarFeed, ImportedRow, PostGroup, PostTarget, Series, StoredPlan
from tests import factories
from tests.webhooks.rows import make_delivery
from webhooks.models import Delivery, SigningSecret
from workspaces.models import (
    EndedIdentity,
    Invitation,
    Member,
    OutgoingMail,
    SignInLink,
    Snippet,
    User,
    UserSession,
    Workspace,
)

SECRET = "canary-that-nobody-may-see"
DIGEST = "c0ffee" * 10 + "beef"
MONTH = date(2027, 3, 1)


def one_of_each(workspace: Workspace, operator: User) -> list[Model]:
    """Create one row of each model; the passwords of operator and owner are the secret value."""
    for person in (operator, workspace.owner_user):
        User.objects.filter(pk=person.pk).update(password=SECRET)
    agent = factories.AgentFactory.create(workspace=workspace)
    account = factories.AccountFactory.create(
        workspace=workspace, credentials={"app_password": SECRET}, tokens={"access": SECRET}
    )
    group = make_group(workspace, account)
    delivery = make_delivery(workspace, "https://receiver.example/hook")
    Delivery.objects.filter(pk=delivery.pk).update(status="dead_letter", due_at=None)
    asset = factories.MediaAssetFactory.create(workspace=workspace)
    now = timezone.now()
    ids: dict[str, Any] = {"workspace_id": workspace.id, "agent_id": agent.id}
    mail = OutgoingMail.objects.create(content={"to": "a@example.com", "subject": SECRET, "text": SECRET}, due_at=now)
    return [
        *(workspace, agent, account, group, group.targets.get(), delivery, delivery.event, asset, mail),
        *_of_people(workspace, operator, mail),
        ApiKey.objects.create(workspace=workspace, agent=agent, name="Key", prefix="sps_agt_1234", token_sha256=DIGEST),
        ClaimToken.objects.create(agent=agent, token_sha256=DIGEST, expires_at=now),
        *_of_oauth(agent),
        SigningSecret.objects.create(workspace=workspace, secret=SECRET, previous_secret=SECRET, previous_until=now),
        *_of_accounts(account, operator),
        *_of_media(asset, group),
        ImportedRow.objects.create(key="1" * 64, group=group),
        _plan(workspace),
        _series(workspace),
        record_entry(caller=system_caller(workspace.id), operation="posts.create", resource_id=group.id),
        *_books(ids),
        *_of_libraries(operator),
        IdempotencyRecord.objects.create(
            id="1" * 64, operation="posts.create", fingerprint=DIGEST, body={"token": SECRET}, expires_at=now
        ),
        Heartbeat.objects.create(duty="publish", beat_at=now),
        *_of_notices(workspace),
    ]


def _of_accounts(account: ConnectedAccount, operator: User) -> list[Model]:
    now = timezone.now()
    return [
        Avatar.objects.create(account=account, content=SECRET.encode(), due_at=now),
        ConnectionAttempt.objects.create(
            workspace=account.workspace,
            actor_kind="user",
            actor_id=operator.pk,
            platform=account.platform,
            state_sha256=DIGEST,
            code_sha256=DIGEST,
            redirect_uri="https://example.com/",
            begun={"state": SECRET},
            stored={"verifier": SECRET},
            opened=[{"tokens": SECRET}],
            expires_at=now,
        ),
    ]


def _of_people(workspace: Workspace, operator: User, mail: OutgoingMail) -> list[Model]:
    now, member = timezone.now(), Member.objects.get(workspace=workspace)
    return [
        member,
        User.objects.get(pk=operator.pk),
        Invitation.objects.create(
            workspace=workspace,
            email="b@example.com",
            role="member",
            token_sha256=DIGEST,
            invited_by=operator,
            mail=mail,
            expires_at=now,
        ),
        SignInLink.objects.create(token_sha256=DIGEST, email="b@example.com", expires_at=now),
        Snippet.objects.create(workspace=workspace, name="Bread", kind="hashtags", text="#bread #rye"),
        EndedIdentity.objects.create(digest="0" * 64, ended_at=now),
        NoticeChoice.objects.create(member=member),
        CalendarFeed.objects.create(member=member, token_sha256=DIGEST),
        SecondFactor.create_or_replace_unconfirmed(operator),
        _session_of(workspace.owner_user),
    ]


def _of_notices(workspace: Workspace) -> list[Model]:
    now = timezone.now()
    destination = {"bot_token": SECRET, "chat_id": "-1"}
    channel = NoticeChannel.objects.create(workspace=workspace, kind="telegram", name="News", destination=destination)
    return [
        channel,
        ChannelMessage.objects.create(channel=channel, body={"text": SECRET}, due_at=now),
        Notice.objects.create(workspace=workspace, kind="budget", occurrence="2027-03", at=now),
        Digest.objects.create(workspace=workspace, kind="budget"),
        NewsCursor.objects.create(kind="budget", seen_until=now),
    ]


def _of_oauth(agent: Agent) -> list[Model]:
    client = OAuthClient.objects.create(client_id="https://client.example/metadata.json", name="Client")
    grant = OAuthGrant.objects.create(
        client=client, agent=agent, resource="https://example.com/mcp", code_sha256=DIGEST, expires_at=timezone.now()
    )
    return [client, grant]


def _plan(workspace: Workspace) -> StoredPlan:
    made = {"preview": {}, "content": {}, "hash": "sha256:0", "maker": "user:1", "expires_at": timezone.now()}
    return StoredPlan.objects.create(workspace=workspace, operation="posts.cancel", **made)


def _series(workspace: Workspace) -> Series:
    return Series.objects.create(
        workspace=workspace,
        timezone="Europe/Berlin",
        starts_at="2027-03-01T09:00",
        rrule="FREQ=DAILY",
        post={"text": "Hello", "targets": []},
        cost_cents_each=0,
        maker="user:usr_1",
        created_by_type="user",
        created_by_id="usr_1",
    )


def _of_media(asset: MediaAsset, group: PostGroup) -> list[Model]:
    return [
        MediaUse.objects.create(media=asset, holder_id=group.pk),
        PendingFile.objects.create(storage_key="wrk/file.jpg", workspace_id=asset.workspace_id),
        MediaUsage.objects.create(workspace_id=asset.workspace_id),
    ]


def _session_of(user: User) -> UserSession:
    now = timezone.now()
    session = Session.objects.create(session_key=SECRET, session_data=SECRET, expire_date=now)
    return UserSession.objects.create(session=session, user=user, signed_in_at=now, last_used_at=now)


def make_group(workspace: Workspace, account: Any, number: int = 1, **fields: Any) -> PostGroup:
    """Create a group with a failed target and its adapter's stored state."""
    fields = {"status": "failed", "text": "Hello", "created_by_type": "user", "created_by_id": "usr_1", **fields}
    group = PostGroup.objects.create(workspace=workspace, trace_id=f"{number:032x}", **fields)
    PostTarget.objects.create(
        group=group,
        account=account,
        platform=account.platform,
        position=0,
        status="failed",
        content_sha256="2" * 64,
        progress={"address": SECRET},
    )
    return group


def _books(ids: dict[str, Any]) -> list[Model]:
    now, workspace_id = timezone.now(), ids["workspace_id"]
    entry = LedgerEntry.objects.create(
        **ids, target_id="tgt_1", platform="x", round=1, kind="hold", cents=1, url_posts=0, month=MONTH, day=MONTH
    )
    return [
        entry,
        MonthCounter.objects.create(holder_id=workspace_id, month=MONTH),
        Correction.objects.create(workspace_id=workspace_id, month=MONTH, cents=-1, reason="An outage", proposed_by="usr_1"),
        DayCounter.objects.create(agent_id=ids["agent_id"], day=MONTH),
        UsageTotal.objects.create(**ids, month=MONTH, platform="x"),
        UsageReport.objects.create(
            entry_id=entry.id, workspace_id=workspace_id, month=MONTH, cents=1, settled_at=now, due_at=now
        ),
        ProcessorEvent.objects.create(event_id="evt_77", type="invoice.paid", payload=SECRET),
        Subscription.objects.create(workspace_id=workspace_id, plan="pro", status="active"),
        BillingAlarm.objects.create(kind="books", subject=f"{workspace_id} 2027-03", detail="The month differs."),
    ]


def _of_libraries(operator: User) -> list[Model]:
    seen: dict[str, Any] = {"username": "somebody", "ip_address": "192.0.2.1", "user_agent": "curl", "path_info": "/admin/"}
    interval = IntervalSchedule.objects.create(every=60, period="seconds")
    return [
        AccessAttempt.objects.create(**seen, get_data=SECRET, post_data=SECRET, failures_since_start=5),
        AccessFailureLog.objects.create(**seen),
        AccessLog.objects.create(**seen, session_hash=DIGEST),
        UserSocialAuth.objects.create(user=operator, provider="oidc", uid="1", extra_data={"access_token": SECRET}),
        Association.objects.create(
            server_url="https://id.example/", handle="1", secret=SECRET, issued=1, lifetime=1, assoc_type="x"
        ),
        Nonce.objects.create(server_url="https://id.example/", timestamp=1, salt=SECRET),
        Code.objects.create(email="c@example.com", code=SECRET),
        Partial.objects.create(token=SECRET, backend="oidc", data={"kwargs": SECRET}),
        LogEntry.objects.create(user=operator, object_id="1", object_repr="A row", action_flag=2),
        interval,
        CrontabSchedule.objects.create(),
        SolarSchedule.objects.create(event="sunrise", latitude=1, longitude=1),
        ClockedSchedule.objects.create(clocked_time=timezone.now()),
        PeriodicTask.objects.create(name=f"run {uuid.uuid4()}", task="config.wake", interval=interval),
    ]
