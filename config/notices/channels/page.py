"""The dashboard page of a workspace's notice channels: add, change, test, pause, resume and remove them."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpResponse
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from config.api.errors import ApiError
from config.notices.channels import changes
from config.notices.channels.destinations import DESTINATION_FIELDS
from config.notices.models import ChannelKind, NoticeChannel, NoticeKind
from workspaces.workspace_page import (
    WorkspacePage,
    add_api_error_to_form,
    record_refused_write,
    run_once_per_submission,
    workspace_page,
)

PAGE = "notice-channels"
_SECRET = {"autocomplete": "off", "spellcheck": "false"}


def _destination_fields() -> dict[str, forms.CharField]:
    """Return the form fields for the destinations of notice channels, by name."""
    return {
        "webhook_url": forms.CharField(
            label=_("Address of the incoming webhook"),
            help_text=_("Slack shows it under Incoming Webhooks of your app. Anyone who has it can post to the channel."),
            max_length=2048,
            widget=forms.TextInput({"placeholder": "https://hooks.slack.com/services/…", **_SECRET}),
        ),
        "bot_token": forms.CharField(
            label=_("Bot token"),
            help_text=_("@BotFather shows it when you create a bot. Add the bot to the chat."),
            max_length=256,
            widget=forms.PasswordInput(_SECRET),
        ),
        "chat_id": forms.CharField(
            label=_("Chat"), help_text=_("The id of the chat, such as -1001234567890, or its @name."), max_length=64
        ),
        "url": forms.CharField(
            label=_("Webhook address"), max_length=2048, widget=forms.TextInput({"placeholder": "https://", **_SECRET})
        ),
    }


class ChannelForm(forms.Form):
    """The form of a notice channel: its name, which notices it gets in which language and, for a new one, its destination."""

    name = forms.CharField(label=_("Name"), max_length=60)
    language = forms.ChoiceField(label=_("Language of the notices"), choices=settings.LANGUAGES)
    notice_kinds = forms.MultipleChoiceField(
        label=_("Notices"), choices=NoticeKind.choices, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any = None, *, kind: ChannelKind | None = None, channel: NoticeChannel | None = None) -> None:
        initial: dict[str, Any] = {"language": get_language(), "notice_kinds": ["approval"]}
        if channel:
            initial = {each: getattr(channel, each) for each in ("name", "language", "notice_kinds")}
        super().__init__(data, initial=initial, auto_id=f"{channel.pk if channel else kind}-%s")
        known = _destination_fields()
        self.fields.update({name: known[name] for name in (DESTINATION_FIELDS[kind] if kind else ())})
        self.order_fields(["name", *known, "language", "notice_kinds"])


@workspace_page(operation="notice_channels.list")
def list_channels(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the workspace's notice channels, and offer forms that add and change them."""
    return _show(page)


@workspace_page("POST", operation="notice_channels.create")
def add_channel(page: WorkspacePage, kind: str) -> HttpResponse:
    """Dashboard page: add a notice channel of a kind, such as `slack`."""
    if kind not in ChannelKind.values:
        raise Http404
    chosen = ChannelKind(kind)
    form = ChannelForm(page.request.POST, kind=chosen)
    if not form.is_valid():
        return _show(page, form, kind, status=422)
    given = {name: form.cleaned_data[name] for name in DESTINATION_FIELDS[chosen]}
    named = {name: form.cleaned_data[name] for name in ("name", "language", "notice_kinds")}
    about = {"caller": page.caller, "workspace_id": page.workspace.id, "kind": chosen, "destination": given, **named}
    try:
        run_once_per_submission(page, "notice_channels.create", lambda: changes.add_channel(**about))
    except ApiError as error:
        record_refused_write(page, "notice_channels.create", error)
        add_api_error_to_form(form, error)
        return _show(page, form, kind, status=error.status)
    return page.success_redirect(gettext("The channel is added. Send it a test notice."), PAGE)


@workspace_page("POST", operation="notice_channels.update")
def change_channel(page: WorkspacePage, channel_id: uuid.UUID) -> HttpResponse:
    """Dashboard page: change the name of a notice channel, the language of its notices, and which ones it gets."""
    form = ChannelForm(page.request.POST)
    if not form.is_valid():
        return _show(page, form, str(channel_id), status=422)
    try:
        changes.change_channel(caller=page.caller, workspace_id=page.workspace.id, channel_id=channel_id, **form.cleaned_data)
    except ApiError as error:
        record_refused_write(page, "notice_channels.update", error)
        add_api_error_to_form(form, error)
        return _show(page, form, str(channel_id), status=error.status)
    return page.success_redirect(gettext("The channel is changed."), PAGE)


@workspace_page("POST", operation="notice_channels.test")
def send_test_notice(page: WorkspacePage, channel_id: uuid.UUID) -> HttpResponse:
    """Dashboard page: send a test notice to a notice channel."""
    changes.send_test_notice(caller=page.caller, workspace_id=page.workspace.id, channel_id=channel_id)
    return page.success_redirect(gettext("The test notice is on its way."), PAGE)


@workspace_page("POST", operation="notice_channels.pause")
def pause_channel(page: WorkspacePage, channel_id: uuid.UUID) -> HttpResponse:
    """Dashboard page: pause a notice channel."""
    changes.pause_channel(caller=page.caller, workspace_id=page.workspace.id, channel_id=channel_id)
    return page.success_redirect(gettext("The channel is paused."), PAGE)


@workspace_page("POST", operation="notice_channels.resume")
def resume_channel(page: WorkspacePage, channel_id: uuid.UUID) -> HttpResponse:
    """Dashboard page: resume a paused notice channel."""
    changes.resume_channel(caller=page.caller, workspace_id=page.workspace.id, channel_id=channel_id)
    return page.success_redirect(gettext("The channel gets notices again."), PAGE)


@workspace_page("POST", operation="notice_channels.delete")
def remove_channel(page: WorkspacePage, channel_id: uuid.UUID) -> HttpResponse:
    """Dashboard page: remove a notice channel."""
    changes.remove_channel(caller=page.caller, workspace_id=page.workspace.id, channel_id=channel_id)
    return page.success_redirect(gettext("The channel is removed."), PAGE)


def _show(page: WorkspacePage, sent: ChannelForm | None = None, key: str = "", *, status: int = 200) -> HttpResponse:
    """Show the page of notice channels; `sent` is a submitted form with errors, and `key` the id or kind of its channel."""
    channels = changes.notice_channels(caller=page.caller, workspace_id=page.workspace.id) if page.may_manage else []
    wrong = {key: sent} if sent else {}
    return page.render(
        "notices/channels.html",
        status=status,
        rows=[(channel, wrong.get(str(channel.pk)) or ChannelForm(channel=channel)) for channel in channels],
        new=[(kind, wrong.get(kind.value) or ChannelForm(kind=kind)) for kind in ChannelKind],
        waits=any(_is_first_attempt_due(channel) for channel in channels),
        webhooks_address=page.url_of_page("webhooks"),
        most=changes.MAX_CHANNELS,
    )


def _is_first_attempt_due(channel: NoticeChannel) -> bool:
    """Return whether a message waits for its first attempt in this notice channel; the page then soon loads again."""
    return any(message.due_at and not message.last_error for message in channel.latest)  # type: ignore[attr-defined]
