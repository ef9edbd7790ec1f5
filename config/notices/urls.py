"""URL route of the dashboard page on which a member chooses e-mail notices."""

from __future__ import annotations

from django.urls import path

from config.notices.page import notice_preferences_page

urlpatterns = [path("dashboard/workspaces/<str:workspace_id>/settings/notices", notice_preferences_page, name="notices")]
