"""Services that add, change, test, pause and remove the notice channels of a workspace, for its owners and admins."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Prefetch
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from auditlog.services import record_entry
from config.api import rate_limit
from config.api.caller import Caller, require_role
from config.api.errors import Conflict, InvalidState, ValidationFailed, missing_or_foreign_id_error
from config.notices.channels.destinations import checked_destination
from config.notices.channels.queue import discard_waiting_messages, queue_notice_messages
from config.notices.models import ChannelKind, ChannelMessage, NoticeChannel
from workspaces.models import Workspace
from workspaces.services import MailMessage, lock_workspace, short_printable_name
from workspaces.services.members import ADMIN_ROLES

MAX_CHANNELS = 10  # of a workspace
MAX_TESTS_PER_MINUTE = 10  # test notices of a workspace


def notice_channels(*, caller: Caller, workspace_id: str) -> list[NoticeChannel]:
    """Service: return the workspace's notice channels by name, each with its newest message in the list `latest`.

    Raises UserSessionRequired, NotFound, Forbidden.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES, write=False)
    newest = ChannelMessage.objects.order_by("-created_at").defer("body")[:1]
    channels = NoticeChannel.objects.filter(workspace_id=workspace_id).order_by("name")
    return list(channels.prefetch_related(Prefetch("messages", newest, to_attr="latest")))


def add_channel(
    *,
    caller: Caller,
    workspace_id: str,
    kind: ChannelKind,
    name: str,
    language: str,
    notice_kinds: Sequence[str],
    destination: Mapping[str, str],
) -> NoticeChannel:
    """Service: add a notice channel to the workspace; `destination` has the fields of its kind, as a person entered them.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, ValidationFailed, Conflict (MAX_CHANNELS).
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    checked = checked_destination(kind, destination, caller)
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent requests cannot exceed the limit together
        if NoticeChannel.objects.filter(workspace_id=workspace_id).count() >= MAX_CHANNELS:
            message = f"The workspace already has {MAX_CHANNELS} channels."
            raise Conflict(message, suggested_action=gettext_noop("Remove one that nobody reads."))
        channel = NoticeChannel(workspace_id=workspace_id, kind=kind, name=name, destination=checked)
        channel.language, channel.notice_kinds = language, list(notice_kinds)
        _save(channel)
        _record(caller, "notice_channels.create", channel)
    return channel


def change_channel(
    *, caller: Caller, workspace_id: str, channel_id: uuid.UUID, name: str, language: str, notice_kinds: Sequence[str]
) -> None:
    """Service: change the name of a notice channel, the language of its notices, and which ones it gets.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, ValidationFailed.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        channel = _locked_channel(workspace_id, channel_id)
        channel.name, channel.language, channel.notice_kinds = name, language, list(notice_kinds)
        _save(channel)
        _record(caller, "notice_channels.update", channel)


def send_test_notice(*, caller: Caller, workspace_id: str, channel_id: uuid.UUID) -> None:
    """Service: queue a test notice for a notice channel that is not paused, unless an earlier one is still on its way.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused, RateLimited, InvalidState.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    rate_limit.count_or_raise_rate_limited(rate_limit.Bucket(f"test-notices:{workspace_id}", MAX_TESTS_PER_MINUTE))
    with transaction.atomic():
        channel = _locked_channel(workspace_id, channel_id)
        if channel.paused_at:
            raise InvalidState(
                gettext_noop("The channel is paused."), suggested_action=gettext_noop("Resume it, then send the test.")
            )
        if channel.messages.filter(notice_kind="", due_at__isnull=False).exists():
            raise InvalidState(
                gettext_noop("The last test notice is still on its way."),
                suggested_action=gettext_noop("Wait until it has arrived."),
            )
        queue_notice_messages([channel], lambda: _test_message(channel.workspace))
        _record(caller, "notice_channels.test", channel)


def pause_channel(*, caller: Caller, workspace_id: str, channel_id: uuid.UUID) -> None:
    """Service: pause a notice channel; it gets no notices, and later none of those that it missed.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        channel = _locked_channel(workspace_id, channel_id)
        channel.paused_at, channel.pause_reason = timezone.now(), ""
        channel.save()
        discard_waiting_messages(channel)
        _record(caller, "notice_channels.pause", channel)


def resume_channel(*, caller: Caller, workspace_id: str, channel_id: uuid.UUID) -> None:
    """Service: let a paused notice channel get notices again, from the next one on.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        channel = _locked_channel(workspace_id, channel_id)
        channel.paused_at, channel.pause_reason = None, ""
        channel.save()
        _record(caller, "notice_channels.resume", channel)


def remove_channel(*, caller: Caller, workspace_id: str, channel_id: uuid.UUID) -> None:
    """Service: remove a notice channel with its secrets and its messages.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        channel = _locked_channel(workspace_id, channel_id)
        _record(caller, "notice_channels.delete", channel)
        discard_waiting_messages(channel)  # which locks them in the order in which workers do
        channel.delete()


def _locked_channel(workspace_id: str, channel_id: uuid.UUID) -> NoticeChannel:
    lock_workspace(workspace_id)
    channels = NoticeChannel.objects.select_related("workspace").select_for_update(of=("self",))
    channel = channels.filter(workspace_id=workspace_id, pk=channel_id).first()
    if channel is None:
        raise missing_or_foreign_id_error(None, "notice channel")
    return channel


def _save(channel: NoticeChannel) -> None:
    """Save a notice channel after a change. Raises ValidationFailed if another one has its name."""
    try:
        with transaction.atomic():
            channel.save()
    except IntegrityError as error:
        raise ValidationFailed.for_field("name", gettext_noop("Another channel has this name.")) from error


def _test_message(workspace: Workspace) -> MailMessage:
    name = short_printable_name(workspace.name)
    subject = gettext("A test notice of %(workspace)s") % {"workspace": name}
    page = reverse("notice-channels", kwargs={"workspace_id": workspace.pk})
    return MailMessage(
        subject=subject,
        workspace_name=name,
        happened=f"{subject}.",
        todo=gettext("Notices of the workspace arrive here from now on."),
        button=gettext("Change the channels"),
        address=f"{settings.BASE_URL}{page}",
        until=gettext("There is nothing to do."),
        reason="",
    )


def _record(caller: Caller, operation: str, channel: NoticeChannel) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=channel.workspace_id,
        resource_type="notice_channel",
        resource_id=str(channel.pk),
        metadata={"kind": channel.kind, "notices": channel.notice_kinds},
    )
