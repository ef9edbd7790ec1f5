"""Notices to Slack, Telegram and webhooks: what arrives there, once."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from auditlog.models import AuditEntry
from config.console.retention_run import run_retention
from config.notices.channels.queue import build_request_or_result, queue_notice_messages
from config.notices.channels.worker_loop import SHARES
from config.notices.models import ChannelMessage, NoticeChannel
from config.notices.sending import create_and_queue_notices
from tests import factories
from tests.conftest import ApiClient
from tests.notices.channels import LoopOfTest, Services, notice, send_to_channels
from tests.notices.rounds import decision_url, ended, real_account, scheduled
from tests.sending_loops import started
from webhooks.services import get_or_create_secrets_by_workspace_id
from webhooks.signing import signature_header_value
from workspaces.models import Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("running_clock")]
KINDS = ("slack", "telegram", "webhook")
TITLE = "A post waits for approval in Workshop."


def only_message() -> ChannelMessage:
    return ChannelMessage.objects.get()


def test_slack_gets_blocks_with_buttons(services: Services, workspace: Workspace, waiting_post: dict[str, Any]) -> None:
    Workspace.objects.update(name="<!channel> & Co")
    services.add(workspace, "slack")
    send_to_channels()
    [message] = services.slack.messages(services.slack_channel)
    buttons = [button for block in message["blocks"] if block["type"] == "actions" for button in block["elements"]]

    assert message["text"] == "A post waits for approval in <!channel> & Co."
    assert message["control"] == []  # nobody is called by the name of a workspace
    assert [(button["text"]["text"], button.get("style"), button["url"]) for button in buttons] == [
        ("Approve", "primary", decision_url(waiting_post, "approve")),
        ("Reject", "danger", decision_url(waiting_post, "reject")),
        (
            "See all posts that wait for approval",
            None,
            f"http://127.0.0.1:8000/dashboard/workspaces/{workspace.id}/approvals",
        ),
    ]
    assert "Nobody may read" not in json.dumps(message)


def test_telegram_gets_a_text_with_buttons(services: Services, workspace: Workspace, waiting_post: dict[str, Any]) -> None:
    Workspace.objects.update(name="<b>Co</b>")
    services.add(workspace, "telegram")
    send_to_channels()
    [message] = services.telegram.messages(services.chat)
    [decisions, [all_posts]] = message.options["keyboard"]

    assert message.text.startswith("A post waits for approval in <b>Co</b>.\n\nTo Bluesky, for 17 Mar 2027, 12:00 (UTC)")
    assert (message.entities, message.options["preview"]) == ((), False)
    assert [(button["text"], button["url"]) for button in decisions] == [
        ("Approve", decision_url(waiting_post, "approve")),
        ("Reject", decision_url(waiting_post, "reject")),
    ]
    assert all_posts["text"] == "See all posts that wait for approval"


def test_a_webhook_gets_signed_json(services: Services, workspace: Workspace, waiting_post: dict[str, Any]) -> None:
    services.add(workspace, "webhook")
    send_to_channels()
    [request] = services.receiver.requests
    at = int(request.headers["x-service-signature"].partition(",")[0].removeprefix("t="))
    keys = get_or_create_secrets_by_workspace_id([workspace.id])[workspace.id]
    body = request.json()

    assert request.headers["x-service-signature"] == signature_header_value(keys, request.body, at=at)
    assert request.headers["x-service-event"] == body["type"] == "notice.approval"
    assert request.headers["x-service-delivery-id"] == body["id"] == str(only_message().pk)
    assert (body["workspace_id"], body["title"], body["created_at"]) == (workspace.id, TITLE, "2027-03-10T13:00:00Z")
    [item] = body["items"]
    assert item["approve_url"] == decision_url(waiting_post, "approve")
    assert item["url"] == waiting_post["approval_url"]


def test_each_channel_gets_notices_in_its_language(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    for kind, language in zip(KINDS, ("de", "es", "de"), strict=True):
        services.add(workspace, kind, language=language)
    services.add(workspace, "webhook", name="In English")
    send_to_channels()
    [in_slack], [in_telegram] = services.slack.messages(services.slack_channel), services.telegram.messages(services.chat)
    german, english = sorted(
        (each.json() for each in services.receiver.requests), key=lambda body: body["title"], reverse=True
    )

    assert german["title"] == in_slack["text"] == "Ein Beitrag wartet in Workshop auf Freigabe."
    assert [each["text"]["text"] for each in in_slack["blocks"][2]["elements"]] == ["Freigeben", "Ablehnen"]
    assert in_telegram.text.startswith("Una publicación espera aprobación en Workshop.\n\nPara Bluesky, el 17 Mar")
    assert [button["text"] for button in in_telegram.options["keyboard"][0]] == ["Aprobar", "Rechazar"]
    assert english["title"] == TITLE
    assert german["action"]["label"] == "Alle Beiträge ansehen, die auf Freigabe warten"
    assert {name for name in german if german[name] == english[name]} == {"type", "workspace_id", "created_at"}
    assert german["items"][0]["approve_url"] == english["items"][0]["approve_url"] == decision_url(waiting_post, "approve")


def test_the_number_of_queries_does_not_grow_with_the_messages_that_are_begun(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any]
) -> None:
    services.add(workspace, "webhook", name="First")
    send_to_channels()  # which creates the signing secret
    counts = []
    for number in (1, SHARES.slow):
        for channel in [services.add(workspace, "webhook", name=f"{number} {each}") for each in range(number)]:
            queue_notice_messages([channel], notice)
        with started(LoopOfTest()) as loop:
            with CaptureQueriesContext(connection) as queries:
                loop.run_once()
            loop.run_until_idle()
        counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_notice_about_many_posts_fits_the_service(
    services: Services, workspace: Workspace, agent_client: Any, kind: str
) -> None:
    agent, account = agent_client(default_mode="requires_confirmation"), real_account(workspace)
    for _ in range(12):
        scheduled(agent, account)
    services.add(workspace, kind)
    send_to_channels()

    assert only_message().sent_at


def test_a_channel_gets_only_the_notices_of_its_workspace_that_it_wants(
    services: Services, workspace: Workspace, api: ApiClient, waiting_post: dict[str, Any]
) -> None:
    other = factories.WorkspaceFactory.create(name="Other")
    services.add(workspace, "slack", "post")
    services.add(other, "telegram", "post", "approval")
    services.add(workspace, "webhook", "post", "approval")
    ended(scheduled(api, real_account(workspace)), "failed")
    send_to_channels()

    assert [each["text"] for each in services.slack.messages(services.slack_channel)] == ["A post of Workshop failed."]
    assert {each.json()["type"] for each in services.receiver.requests} == {"notice.post", "notice.approval"}
    assert services.telegram.messages(services.chat) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_notice_is_sent_once_and_its_body_deleted(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], kind: str, running_clock: time_machine.Traveller
) -> None:
    services.add(workspace, kind)
    send_to_channels()
    running_clock.shift(timedelta(days=1))
    send_to_channels()

    message = only_message()
    assert (message.attempts, message.body, message.due_at, message.last_error) == (1, None, None, "")


def test_channels_of_a_deleted_workspace_get_nothing_and_are_deleted(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], api: ApiClient
) -> None:
    services.add(workspace, "webhook")
    create_and_queue_notices()
    assert api.delete(f"/workspaces/{workspace.id}").status_code == 200
    send_to_channels()
    message = only_message()
    paused = NoticeChannel.objects.filter(paused_at__isnull=False).exists()
    run_retention()

    assert services.receiver.requests == ()
    assert (message.last_error, message.due_at, message.body) == ("The workspace was deleted.", None, None)
    assert not paused
    assert not AuditEntry.objects.filter(operation="notice_channels.pause").exists()
    assert not NoticeChannel.objects.exists()


def test_old_messages_are_deleted(
    services: Services, workspace: Workspace, waiting_post: dict[str, Any], running_clock: time_machine.Traveller
) -> None:
    services.add(workspace, "slack")
    send_to_channels()
    running_clock.shift(timedelta(days=31))
    run_retention()

    assert (ChannelMessage.objects.count(), NoticeChannel.objects.count()) == (0, 1)


def test_secrets_are_encrypted(services: Services, workspace: Workspace, waiting_post: dict[str, Any]) -> None:
    channel = services.add(workspace, "telegram")
    create_and_queue_notices()
    [stored] = NoticeChannel.objects.values_list("destination", flat=True)
    [body] = ChannelMessage.objects.values_list("body", flat=True)

    assert services.bot not in stored
    assert "approval" not in str(body)
    assert channel.destination["bot_token"] == services.bot
    assert services.bot not in repr(build_request_or_result(only_message(), {}))
