"""Django admin pages of connected accounts and OAuth connection attempts; their secrets are not shown."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Avatar, ConnectedAccount, ConnectionAttempt
from accounts.platforms.registry import PLATFORMS
from accounts.services.check import verify_and_update_account
from config.pages.admin import ReadOnlyAdmin
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller


class PlatformFilter(admin.SimpleListFilter):
    """Admin filter of connected accounts by platform; it lists every supported platform without searching the table."""

    title = _("platform")
    parameter_name = "platform"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in PLATFORMS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(platform=self.value()) if self.value() else queryset


@admin.register(ConnectedAccount)
class ConnectedAccountAdmin(ReadOnlyAdmin):
    list_display = ("id", "platform", "handle", "workspace", "sandbox", "status", "last_checked_at")
    list_filter = ("status", PlatformFilter, "sandbox")
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id"}
    search_fields = ("handle",)
    actions = ("check_credentials_at_platform",)

    @admin.action(description=_("Ask the platform whether the account still works"), permissions=["operate"])
    @requires_confirmation(
        _("The platforms are asked with the accounts' own tokens. An account that no longer works must be connected again.")
    )
    def check_credentials_at_platform(self, request: HttpRequest, queryset: QuerySet[ConnectedAccount]) -> None:
        self.run_action_for_each_row(
            request,
            queryset.select_related("workspace"),
            "accounts.check",
            lambda account: verify_and_update_account(
                caller=signed_in_operator_caller(request, account.workspace), account_id=account.pk
            ),
            gettext("Asked; the status is what the platform said"),
        )


@admin.register(Avatar)
class AvatarAdmin(ReadOnlyAdmin):
    list_display = ("account", "source_url", "fetched_at", "due_at", "failures")
    list_select_related = ("account",)
    indexed_lookups = {"acc": "account_id"}
    secrets = ("content",)


@admin.register(ConnectionAttempt)
class ConnectionAttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "platform", "workspace", "actor_kind", "actor_id", "used_at", "account", "expires_at")
    list_select_related = ("workspace", "account")
    indexed_lookups = {"wrk": "workspace_id", "acc": "account_id"}
    secrets = ("state_sha256", "code_sha256")
