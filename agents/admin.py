"""The Django admin tables of agents, API keys, claim tokens and the OAuth server. The tokens' values are never shown."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ApiKey, ClaimToken, OAuthClient, OAuthGrant
from agents.services import revoke_agent, revoke_key_as_operator
from config.pages.admin import ReadOnlyAdmin
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "workspace", "default_mode", "status", "created_at")
    list_filter = ("status", "default_mode")
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id", "usr": "owner_user_id"}
    search_fields = ("name",)
    actions = ("revoke",)

    @admin.action(description=_("Revoke"), permissions=["operate"])
    @requires_confirmation(_("These agents, their keys and their claim tokens stop working at once and permanently."))
    def revoke(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self.run_action_for_each_row(
            request,
            queryset.select_related("workspace"),
            "agents.revoke",
            lambda agent: revoke_agent(caller=signed_in_operator_caller(request, agent.workspace), agent_id=agent.pk),
            gettext("Revoked"),
        )


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ("id", "prefix", "name", "workspace", "agent", "status", "last_used_at", "created_at")
    list_select_related = ("workspace", "agent")
    indexed_lookups = {"wrk": "workspace_id", "agt": "agent_id"}
    search_fields = ("prefix__exact", "name")
    secrets = ("token_sha256",)
    extra_fields = ("status",)
    actions = ("revoke",)

    @admin.action(description=_("Revoke"), permissions=["operate"])
    @requires_confirmation(_("These keys stop working at once and permanently."))
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        caller = signed_in_operator_caller(request)
        self.run_action_for_each_row(
            request,
            queryset,
            "ops.revoke_key",
            lambda key: revoke_key_as_operator(caller=caller, api_key_id=key.pk),
            gettext("Revoked"),
        )


@admin.register(ClaimToken)
class ClaimTokenAdmin(ReadOnlyAdmin):
    list_display = ("id", "agent", "created_at", "expires_at", "burned_at")
    list_select_related = ("agent",)
    indexed_lookups = {"agt": "agent_id"}
    secrets = ("token_sha256",)


@admin.register(OAuthClient)
class OAuthClientAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "verified_host", "created_at")
    search_fields = ("client_id__exact", "name")
    extra_fields = ("verified_host",)


@admin.register(OAuthGrant)
class OAuthGrantAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "agent", "resource", "expires_at", "ended_at", "last_used_at")
    list_select_related = ("client", "agent")
    indexed_lookups = {"agt": "agent_id", "ocl": "client_id"}
    secrets = ("code_sha256", "code_challenge")
