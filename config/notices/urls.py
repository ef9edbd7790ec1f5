"""URL routes of the dashboard pages on which a member chooses e-mail notices, and of the workspace's notice channels."""

from __future__ import annotations

from django.urls import path

from config.notices.channels import page as channels
from config.notices.page import show_or_save_notice_choice

_WORKSPACE = "dashboard/workspaces/<str:workspace_id>/settings"
_CHANNEL = f"{_WORKSPACE}/notice-channels/<uuid:channel_id>"

urlpatterns = [
    path(f"{_WORKSPACE}/notices", show_or_save_notice_choice, name="notices"),
    path(f"{_WORKSPACE}/notice-channels", channels.list_channels, name="notice-channels"),
    path(f"{_WORKSPACE}/notice-channels/add/<str:kind>", channels.add_channel, name="notice-channel-add"),
    path(_CHANNEL, channels.change_channel, name="notice-channel"),
    path(f"{_CHANNEL}/test", channels.send_test_notice, name="notice-channel-test"),
    path(f"{_CHANNEL}/pause", channels.pause_channel, name="notice-channel-pause"),
    path(f"{_CHANNEL}/resume", channels.resume_channel, name="notice-channel-resume"),
    path(f"{_CHANNEL}/remove", channels.remove_channel, name="notice-channel-remove"),
]
