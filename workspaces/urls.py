"""The URLs of the API of workspaces and users and of their dashboard pages."""

from __future__ import annotations

from django.urls import path

from workspaces.dashboard import (
    audit_log,
    installed_app,
    language,
    members,
    sessions,
    settings,
    sign_in,
    sign_in_link,
    snippets,
    workspaces,
)
from workspaces.views import UserViewSet, WorkspaceViewSet

WORKSPACE_PATH = "dashboard/workspaces/<str:workspace_id>"

urlpatterns = [
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
    path("workspaces/<str:workspace_id>", WorkspaceViewSet.as_view({"patch": "update_caps", "delete": "destroy"})),
    path("workspaces/<str:workspace_id>/export", WorkspaceViewSet.as_view({"get": "export"})),
    path("users/<str:user_id>", UserViewSet.as_view({"delete": "destroy"})),
    path("users/<str:user_id>/export", UserViewSet.as_view({"get": "export"})),
    path("dashboard/", workspaces.list_or_create_workspaces, name="dashboard"),
    path(f"{WORKSPACE_PATH}/audit-log", audit_log.show_audit_log, name="audit-log"),
    path(f"{WORKSPACE_PATH}/audit-log/csv", audit_log.download_audit_log_csv, name="audit-log-csv"),
    path(f"{WORKSPACE_PATH}/settings", settings.show_settings, name="settings"),
    path(f"{WORKSPACE_PATH}/settings/general", settings.save_workspace_name_and_timezone, name="settings-general"),
    path(f"{WORKSPACE_PATH}/settings/caps", settings.change_monthly_caps, name="settings-caps"),
    path(f"{WORKSPACE_PATH}/settings/editors", settings.change_whether_editors_need_approval, name="settings-editors"),
    path(f"{WORKSPACE_PATH}/settings/pause", settings.pause_workspace, name="settings-pause"),
    path(f"{WORKSPACE_PATH}/settings/resume", settings.resume_workspace, name="settings-resume"),
    path(f"{WORKSPACE_PATH}/settings/export", settings.download_workspace_without_posts, name="settings-export"),
    path(f"{WORKSPACE_PATH}/settings/delete", settings.delete_workspace, name="settings-delete"),
    path(f"{WORKSPACE_PATH}/snippets", snippets.list_or_create_snippets, name="snippets"),
    path(f"{WORKSPACE_PATH}/snippets/<int:snippet_id>", snippets.change_snippet, name="snippet"),
    path(f"{WORKSPACE_PATH}/snippets/<int:snippet_id>/delete", snippets.delete_snippet, name="snippet-delete"),
    path(f"{WORKSPACE_PATH}/members", members.list_members_and_invitations, name="members"),
    path(f"{WORKSPACE_PATH}/members/invite", members.invite_member, name="member-invite"),
    path(
        f"{WORKSPACE_PATH}/members/invitations/<int:invitation_id>/withdraw",
        members.withdraw_invitation,
        name="invitation-withdraw",
    ),
    path(f"{WORKSPACE_PATH}/members/leave", members.leave_workspace, name="member-leave"),
    path(f"{WORKSPACE_PATH}/members/hand-over", members.hand_over_workspace, name="member-hand-over"),
    path(f"{WORKSPACE_PATH}/members/<str:user_id>/role", members.change_role, name="member-role"),
    path(f"{WORKSPACE_PATH}/members/<str:user_id>/remove", members.remove_member, name="member-remove"),
    path("app.webmanifest", installed_app.serve_app_manifest, name="app-manifest"),
    path("service-worker.js", installed_app.serve_service_worker, name="service-worker"),
    path("dashboard/offline", installed_app.show_offline_page, name="offline"),
    path("dashboard/sign-in", sign_in.show_sign_in_page, name="sign-in"),
    path("dashboard/sign-in/begin", sign_in.begin_sign_in, name="sign-in-begin"),
    path("dashboard/sign-in/again", sign_in.sign_in_again, name="sign-in-again"),
    path("dashboard/sign-in/continue", sign_in.show_form_saved_before_sign_in, name="held-form"),
    path("dashboard/sign-in/callback", sign_in.sign_in_callback, name="sign-in-callback"),
    path("dashboard/sign-in/link", sign_in_link.request_sign_in_link, name="sign-in-link-request"),
    path("dashboard/sign-in/link/<str:token>", sign_in_link.show_or_use_sign_in_link, name="sign-in-link"),
    path("dashboard/sign-in/<str:user_id>/<str:token>", sign_in.sign_in_by_development_link, name="sign-in-once"),
    path("dashboard/sign-out", sign_in.sign_out_of_all_browsers, name="sign-out"),
    path("dashboard/language", language.show_or_save_language, name="language"),
    path("dashboard/sessions", sessions.list_sessions, name="sessions"),
    path("dashboard/sessions/end-others", sessions.end_other_sessions, name="sessions-end-others"),
    path("dashboard/sessions/<int:user_session_id>/end", sessions.end_session, name="session-end"),
    path("dashboard/invitations/<str:token>", members.show_or_accept_invitation, name="invitation"),
]
