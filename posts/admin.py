"""Django admin pages of post groups and of post targets, with actions that retry, cancel or resolve targets."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller
from config.pages.admin_search import TRACE
from posts.models import CalendarFeed, ImportedRow, PostGroup, PostTarget, Series, StoredPlan
from posts.services import cancel_post, resolve_unconfirmed_target, retry_post


class PostTargetInline(admin.TabularInline):
    """Admin table of a post group's targets (50 at most), shown on the group's admin page."""

    model = PostTarget
    template = "admin/inline_rows.html"
    extra = 0
    ordering = ("position",)
    fields = ("platform", "account", "status", "attempts", "due_at", "permalink", "error")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[PostTarget]:
        return super().get_queryset(request).select_related("account")


@admin.register(PostGroup)
class PostGroupAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace", "status", "scheduled_at", "sandbox", "agent_id", "created_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id", TRACE: "trace_id"}
    unindexed_lookups = {"agt": "agent_id"}
    inlines = (PostTargetInline,)
    actions = ("retry", "retry_unconfirmed", "cancel")

    @admin.action(description=_("Retry failed targets"), permissions=["operate"])
    @requires_confirmation(
        _("Failed targets are due at once and are published if the platform accepts them. Their prices are held again.")
    )
    def retry(self, request: HttpRequest, queryset: QuerySet[PostGroup]) -> None:
        self._retry(request, queryset, include_unconfirmed=False)

    @admin.action(description=_("Retry failed and unconfirmed targets"), permissions=["operate"])
    @requires_confirmation(
        _("Unconfirmed targets may already be published. If the platform cannot be asked, they may be published twice.")
    )
    def retry_unconfirmed(self, request: HttpRequest, queryset: QuerySet[PostGroup]) -> None:
        self._retry(request, queryset, include_unconfirmed=True)

    @admin.action(description=pgettext_lazy("a post", "Cancel"), permissions=["operate"])
    @requires_confirmation(
        _("Targets that have not started are cancelled, the money held for them is released, and events are sent.")
    )
    def cancel(self, request: HttpRequest, queryset: QuerySet[PostGroup]) -> None:
        self.run_action_for_each_row(
            request,
            queryset.select_related("workspace"),
            "posts.cancel",
            lambda group: cancel_post(caller=signed_in_operator_caller(request, group.workspace), post_group_id=group.pk),
            pgettext("of a post", "Cancelled"),
        )

    def _retry(self, request: HttpRequest, rows: QuerySet[PostGroup], *, include_unconfirmed: bool) -> None:
        def work(group: PostGroup) -> object:
            caller = signed_in_operator_caller(request, group.workspace)
            return retry_post(caller=caller, post_group_id=group.pk, include_unconfirmed=include_unconfirmed)

        self.run_action_for_each_row(request, rows.select_related("workspace"), "posts.retry", work, gettext("Retried"))


class UnconfirmedTargetResolutionForm(forms.Form):
    """Admin form in which an operator says whether an unconfirmed post target was published."""

    permalink = forms.URLField(
        required=False,
        max_length=2048,
        assume_scheme="https",
        label=_("It was published at"),
        widget=forms.URLInput(attrs={"size": 60, "class": "vURLField"}),
    )
    not_published = forms.BooleanField(required=False, label=_("It was not published: mark it as failed, charge nothing"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and bool(cleaned["permalink"]) == cleaned["not_published"]:
            raise forms.ValidationError(gettext("Enter the address or tick the box, not both."))
        return {"permalink": cleaned.get("permalink") or None}


@admin.register(PostTarget)
class PostTargetAdmin(ReadOnlyAdmin):
    list_display = ("id", "group_id", "platform", "account", "status", "attempts", "due_at", "lease_until", "fence")
    list_filter = (WaitingJobFilter,)
    list_select_related = ("account",)
    indexed_lookups = {"pgr": "group_id", "acc": "account_id"}
    secrets = ("progress",)  # adapter state between two steps, such as upload addresses
    actions = ("resolve",)

    @admin.action(description=_("Resolve unconfirmed targets"), permissions=["operate"])
    @requires_confirmation(
        _("Check the platform first. Your answer is final and decides whether the customer is charged."),
        UnconfirmedTargetResolutionForm,
    )
    def resolve(self, request: HttpRequest, queryset: QuerySet[PostTarget], permalink: str | None) -> None:
        targets = list(queryset.select_related("group__workspace"))
        if permalink and len(targets) > 1:
            problem = gettext("Each target has its own address. Resolve one target at a time.")
            self.message_user(request, problem, messages.ERROR)
            return

        def work(target: PostTarget) -> object:
            caller = signed_in_operator_caller(request, target.group.workspace)
            return resolve_unconfirmed_target(
                caller=caller, post_group_id=target.group_id, target_id=target.pk, permalink=permalink
            )

        self.run_action_for_each_row(request, targets, "posts.resolve", work, gettext("Resolved"))


@admin.register(StoredPlan)
class StoredPlanAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace_id", "operation", "post_group_id", "agent_id", "expires_at", "committed_at")
    indexed_lookups = {"wrk": "workspace_id"}


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace_id", "status", "rrule", "timezone", "made", "agent_id", "due_at", "lease_until", "fence")
    list_filter = (WaitingJobFilter,)
    indexed_lookups = {"wrk": "workspace_id"}


@admin.register(CalendarFeed)
class CalendarFeedAdmin(ReadOnlyAdmin):
    list_display = ("id", "member_id", "created_at")
    secrets = ("token_sha256",)


@admin.register(ImportedRow)
class ImportedRowAdmin(ReadOnlyAdmin):
    list_display = ("key", "group_id")
    indexed_lookups = {"pgr": "group_id"}
