"""Admin tables of heartbeats, e-mail notices, second factors, failed sign-ins, periodic tasks and Django's admin log.

Groups are not registered, because every operator has all permissions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_celery_beat.admin import PeriodicTaskAdmin
from django_celery_beat.models import PeriodicTask
from social_django.models import Association, Code, Nonce, Partial, UserSocialAuth

from config.console.models import SecondFactor
from config.jobs.models import Heartbeat
from config.notices.models import ChannelMessage, Digest, NewsCursor, Notice, NoticeChannel, NoticeChoice
from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import ReturnAfterActionAdmin, requires_confirmation

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

admin.site.unregister([AccessAttempt, AccessFailureLog, AccessLog, Association, Group, Nonce, PeriodicTask, UserSocialAuth])


class _NoticesAdmin(ReadOnlyAdmin):
    """Base class of the admin tables of e-mail notices and of their digests."""

    list_filter = ("kind",)
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id"}


admin.site.register(Heartbeat, ReadOnlyAdmin, list_display=("duty", "beat_at"))
admin.site.register(Notice, _NoticesAdmin, list_display=("id", "workspace", "kind", "occurrence", "at", "settled_at"))
admin.site.register(Digest, _NoticesAdmin, list_display=("id", "workspace", "kind", "due_at", "sent_at", "pause"))
admin.site.register(NewsCursor, ReadOnlyAdmin, list_display=("kind", "seen_until"))
admin.site.register(
    NoticeChoice,
    ReadOnlyAdmin,
    list_display=("member", "chosen"),
    list_select_related=("member",),
    indexed_lookups={"wrk": "member__workspace_id", "usr": "member__user_id"},
)


admin.site.register(
    NoticeChannel,
    _NoticesAdmin,
    list_display=("id", "workspace", "kind", "created_at", "paused_at", "pause_reason"),
)


@admin.register(ChannelMessage)
class ChannelMessageAdmin(ReadOnlyAdmin):
    """The read-only admin table of notices to workspaces' Slack, Telegram and webhook channels, without their bodies."""

    list_display = ("id", "channel", "notice_kind", "created_at", "sent_at", "attempts", "last_error", "due_at")
    list_filter = (WaitingJobFilter,)
    list_select_related = ("channel",)
    ordering = ("-created_at",)
    indexed_lookups = {"wrk": "channel__workspace_id"}


@admin.register(SecondFactor)
class SecondFactorAdmin(ReadOnlyAdmin):
    """The read-only admin table of second factors; only `manage.py reset_second_factor` can reset one."""

    list_display = ("user", "confirmed", "created_at", "last_used_at", "throttling_failure_count")
    list_select_related = ("user",)
    ordering = ("-created_at",)
    indexed_lookups = {"usr": "user_id"}


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """The read-only admin table of Django's LogEntry: all changes that operators made by hand in the console."""

    list_display = ("action_time", "user", "action_flag", "content_type", "object_id", "change_message")
    list_select_related = ("user", "content_type")
    indexed_lookups = {"usr": "user_id"}


class _SignInsAdmin(ReadOnlyAdmin):
    """Base class of the admin tables of sign-in attempts, which the library django-axes stores."""

    ordering = ("-pk",)
    search_fields = ("username__exact", "ip_address__exact")


@admin.register(AccessAttempt)
class FailedSignInAdmin(_SignInsAdmin):
    """The admin table of failed sign-ins; deleting the rows of a locked-out user name or IP address ends its lockout."""

    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "path_info", "user_agent")
    secrets = ("get_data", "post_data")  # may contain passwords typed into the wrong field

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_operate_permission(request)


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(_SignInsAdmin):
    """The admin table of all failed sign-ins, whose rows stay when a lockout ends."""

    list_display = ("attempt_time", "username", "ip_address", "path_info", "user_agent", "locked_out")


@admin.register(AccessLog)
class SuccessfulSignInsAdmin(_SignInsAdmin):
    """The admin table of successful sign-ins, with the time at which the person signed out."""

    list_display = ("attempt_time", "logout_time", "username", "ip_address", "path_info", "user_agent")
    secrets = ("session_hash",)


admin.site.register(
    UserSocialAuth,
    ReadOnlyAdmin,
    list_display=("id", "user", "provider", "uid", "created"),
    list_select_related=("user",),
    indexed_lookups={"usr": "user_id"},
    secrets=("extra_data",),  # contains tokens
)
admin.site.register(
    Association, ReadOnlyAdmin, list_display=("id", "server_url", "assoc_type", "issued", "lifetime"), secrets=("secret",)
)
admin.site.register(Nonce, ReadOnlyAdmin, list_display=("id", "server_url", "timestamp"), secrets=("salt",))
admin.site.register(Code, ReadOnlyAdmin, list_display=("id", "email", "verified", "timestamp"), secrets=("code",))
admin.site.register(
    Partial, ReadOnlyAdmin, list_display=("id", "backend", "next_step", "timestamp"), secrets=("token", "data")
)


def _asks(name: str, warning: StrOrPromise) -> Any:
    """Return the admin action of periodic tasks with this name, with a confirmation page before it runs."""
    action = getattr(PeriodicTaskAdmin, name)
    return admin.action(description=action.short_description)(requires_confirmation(warning)(action))


@admin.register(PeriodicTask)
class CeleryBeatScheduleAdmin(ReturnAfterActionAdmin, PeriodicTaskAdmin):
    """The admin table of Celery beat's periodic tasks; the beat applies changes within seconds."""

    enable_tasks = _asks("enable_tasks", _("The beat starts these tasks again at their times."))
    disable_tasks = _asks("disable_tasks", _("The beat does not start these tasks until they are enabled."))
    toggle_tasks = _asks("toggle_tasks", _("Tasks that are enabled are disabled, and those that are disabled are enabled."))
    run_tasks = _asks("run_tasks", _("A worker runs each of these tasks once, now."))
    date_hierarchy = None
    list_display = ("name", "enabled", "scheduler", "last_run_at", "total_run_count")
    list_filter = ("enabled",)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Hide the admin action `run_tasks` if there is no message broker, because workers would not get the tasks."""
        actions: dict[str, Any] = super().get_actions(request)
        return {name: action for name, action in actions.items() if settings.REDIS_URL or name != "run_tasks"}

    def response_action(  # type: ignore[override]  # the stubs are those of a later Django
        self, request: HttpRequest, queryset: QuerySet[PeriodicTask]
    ) -> HttpResponse | None:
        """Run an admin action on the selected periodic tasks and log it, unless Django itself logs it (a deletion)."""
        chosen = list(queryset.filter(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME)))
        answer = super().response_action(request, queryset)
        name = request.POST.get("action", "")
        has_run = "confirmed" in request.POST and name in self.get_actions(request) and name != "delete_selected"
        for row in chosen if has_run else []:
            self.log_change(request, row, f"Action {name}.")
        return answer

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        row = kwargs.get("obj")
        if row is not None and row.name in settings.CELERY_BEAT_SCHEDULE:
            note = gettext("The service resets this schedule when its beat starts, except whether it is enabled.")
            self.message_user(request, note, messages.INFO)
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer
