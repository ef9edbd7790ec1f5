"""The admin tables of webhook events, deliveries and signing secrets; the secrets themselves are not shown."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from auditlog.models import AuditEntry
from config.api.errors import ApiError
from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import (
    record_refused_admin_action,
    refusal_text,
    requires_confirmation,
    signed_in_operator_caller,
)
from config.pages.admin_search import TRACE
from webhooks.models import FINISHED_DELIVERY_STATUSES, Delivery, DeliveryStatus, Event, SigningSecret
from webhooks.services import replay_deliveries_as_operator

REPLAY_OPERATION = "ops.replay_deliveries"


def _groups_of(trace_id: str) -> Any:
    """Return the ids of the post groups that audit log entries name under a trace id, to find the groups' webhook events.

    The ids are from the audit log. Webhook events themselves have no index by trace id.
    """
    entries = AuditEntry.objects.filter(trace_id=trace_id, resource_type="post_group")
    return entries.order_by().values("resource_id")


class DeliveryStatusFilter(admin.SimpleListFilter):
    """The admin table's filter of webhook deliveries by status.

    The filter also constrains `due_at`, so that the database can use an index.
    """

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(DeliveryStatus.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        if not self.value():
            return queryset
        return queryset.filter(status=self.value(), due_at__isnull=self.value() in FINISHED_DELIVERY_STATUSES)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "workspace_id", "host", "status", "attempts", "last_status_code", "due_at", "created_at")
    list_filter = (DeliveryStatusFilter, WaitingJobFilter)
    list_select_related = ("event",)
    indexed_lookups = {
        "evt": "event_id",
        "wrk": "workspace_id",
        "pgr": "event__post_group_id",
        TRACE: lambda word: Q(event__post_group_id__in=_groups_of(word)),
    }
    unindexed_lookups = {"tgt": "event__target_id"}
    actions = ("replay", "replay_all_dead_letters_of_workspaces")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).defer("event__payload")

    @admin.display(description=_("event"))
    def kind(self, delivery: Delivery) -> str:
        return delivery.event.kind

    @admin.action(description=_("Replay"), permissions=["operate"])
    @requires_confirmation(_("The receivers get these deliveries again, also those that they have already accepted."))
    def replay(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        self._replay(request, ids=list(queryset.values_list("pk", flat=True)))

    @admin.action(description=_("Replay all dead letters of the workspace"), permissions=["operate"])
    @requires_confirmation(
        _("All dead letters of the workspaces of the selected deliveries are sent again, not only the selected ones.")
    )
    def replay_all_dead_letters_of_workspaces(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        for workspace_id in sorted(set(queryset.values_list("workspace_id", flat=True))):
            self._replay(request, workspace_id=workspace_id)

    def _replay(self, request: HttpRequest, **which: Any) -> None:
        try:
            found = replay_deliveries_as_operator(caller=signed_in_operator_caller(request), **which)
        except ApiError as error:
            record_refused_admin_action(request, REPLAY_OPERATION, error)
            self.message_user(request, refusal_text(error, REPLAY_OPERATION), messages.WARNING)
            return
        numbers = {"replayed": found.replayed, "in_flight": found.in_flight, "remaining": found.remaining, **which}
        if "workspace_id" in which:
            summary = gettext(
                "Replayed of %(workspace_id)s: %(replayed)s. Skipped because an attempt is in flight: %(in_flight)s. "
                "Dead letters remaining: %(remaining)s."
            )
        else:
            summary = gettext("Replayed: %(replayed)s. Skipped because an attempt is in flight: %(in_flight)s.")
        self.message_user(request, summary % numbers)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind_value", "subject", "sequence", "workspace_id", "sandbox", "created_at")
    indexed_lookups = {
        "wrk": "workspace_id",
        "pgr": "post_group_id",
        "key": "subject_id",
        TRACE: lambda word: Q(post_group_id__in=_groups_of(word)),
    }
    unindexed_lookups = {"tgt": "target_id"}
    secrets = ("payload",)  # not loaded in lists; `body` shows it as text
    extra_fields = ("body",)

    @admin.display(description=_("kind"))
    def kind_value(self, event: Event) -> str:
        """Return a webhook event kind's short value for the admin table, because the labels of kinds are whole sentences."""
        return event.kind

    @admin.display(description=_("about"))
    def subject(self, event: Event) -> str:
        """Admin column: the id of the object that a webhook event is about, a post group or for example an API key."""
        return event.post_group_id or event.subject_id or ""

    @admin.display(description=_("body, as it is sent"))
    def body(self, event: Event) -> str:
        return json.dumps(json.loads(bytes(event.payload)), indent=2, ensure_ascii=False)


@admin.register(SigningSecret)
class SigningSecretAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "previous_until", "created_at", "updated_at")
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "pk"}
