"""The admin tables of users, sign-in links, workspaces, members, invitations, outgoing e-mail and snippets in the console."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller
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
from workspaces.services import pause_workspace, resume_workspace


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """The read-only admin table of users. Only the identity provider or `createsuperuser` makes a user an operator."""

    list_display = ("id", "username", "email", "display_name", "is_staff", "is_active", "created_at")
    list_filter = ("is_staff", "is_active")
    search_fields = ("email__iexact", "username__iexact")
    secrets = ("password",)


@admin.register(UserSession)
class UserSessionAdmin(ReadOnlyAdmin):
    list_display = ("id", "user", "signed_in_at", "last_used_at", "ip", "user_agent")
    list_select_related = ("user",)
    indexed_lookups = {"usr": "user_id"}
    secrets = ("session",)  # the session key would give access to the session


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "slug", "owner_user", "status", "paused", "retention_tier", "created_at")
    list_filter = ("status", "retention_tier")
    list_select_related = ("owner_user",)
    indexed_lookups = {"usr": "owner_user_id", "cus": "processor_customer_id"}
    search_fields = ("name", "slug")
    actions = ("pause", "resume")

    @admin.display(description=_("paused by"), empty_value="")
    def paused(self, workspace: Workspace) -> str:
        return ", ".join(workspace.paused_by)

    @admin.action(description=_("Pause"), permissions=["operate"])
    @requires_confirmation(
        _("These workspaces refuse writes and do not publish scheduled posts until an operator resumes them.")
    )
    def pause(self, request: HttpRequest, queryset: QuerySet[Workspace]) -> None:
        caller = signed_in_operator_caller(request)
        self.run_action_for_each_row(
            request,
            queryset,
            "ops.pause_workspace",
            lambda workspace: pause_workspace(caller=caller, workspace_id=workspace.pk),
            gettext("Paused"),
        )

    @admin.action(description=_("Resume: lift the operators' pause"), permissions=["operate"])
    @requires_confirmation(
        _("These workspaces accept writes and publish again, first the posts that are due. A pause by the owner stays.")
    )
    def resume(self, request: HttpRequest, queryset: QuerySet[Workspace]) -> None:
        caller = signed_in_operator_caller(request)
        self.run_action_for_each_row(
            request,
            queryset,
            "ops.resume_workspace",
            lambda workspace: resume_workspace(caller=caller, workspace_id=workspace.pk),
            gettext("Lifted the operators' pause"),
        )


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("workspace", "user")
    indexed_lookups = {"wrk": "workspace_id", "usr": "user_id"}


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace", "email", "role", "invited_by", "expires_at")
    list_select_related = ("workspace", "invited_by")
    indexed_lookups = {"wrk": "workspace_id", "usr": "invited_by_id"}
    search_fields = ("email__iexact",)
    secrets = ("token_sha256",)


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin):
    list_display = ("id", "email", "created_at", "expires_at", "used_at")
    ordering = ("-expires_at",)
    search_fields = ("email__iexact",)
    secrets = ("token_sha256",)


@admin.register(Snippet)
class SnippetAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace", "kind", "name", "updated_at")
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id"}


@admin.register(EndedIdentity)
class EndedIdentityAdmin(ReadOnlyAdmin):
    list_display = ("digest", "ended_at")
    ordering = ("-ended_at",)


@admin.register(OutgoingMail)
class OutgoingMailAdmin(ReadOnlyAdmin):
    list_display = ("id", "created_at", "sent_at", "is_given_up", "attempts", "last_error", "due_at")
    list_filter = (WaitingJobFilter,)
    ordering = ("-created_at",)
    extra_fields = ("is_given_up",)

    @admin.display(boolean=True, description=_("given up"))
    def is_given_up(self, mail: OutgoingMail) -> bool:
        return mail.is_given_up
