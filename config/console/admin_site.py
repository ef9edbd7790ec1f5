"""The operators' console: Django's admin site with its own front page, two-factor sign-in and audit entries."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from auditlog.services import record_entry
from billing.selectors import count_corrections_awaiting_approval
from billing.services import ReconciliationResult, reconcile_billing_for_operator
from billing.subscription_plans import has_payment_processor
from config.console import retention_run, status
from config.console.find import find_rows
from config.console.late_posts import late_targets
from config.console.operators.sign_in import CodeStep, PasswordStep, SecondFactorSetUpStep, satisfies_second_factor_rule
from config.console.statement import show_month_statement
from config.db.ids import PrefixedIdField
from config.pages.admin_actions import signed_in_operator_caller
from config.pages.admin_search import TRACE, ExactSearchAdmin, search_word_kind
from posts.models import PostTarget

LIBRARY_APPS = ("admin", "axes", "django_celery_beat", "social_django")  # their tables are folded away on the front page
# What the loops of settings.WORKER_LOOPS process, for the front page.
WORK_OF_LOOPS = {
    "publish": _("Posts"),
    "series": _("Posts of series"),
    "deliver": _("Webhook deliveries"),
    "thumbnail": _("Thumbnails"),
    "processor_events": _("Events of the payment processor"),
    "usage_reports": _("Usage reports to the payment processor"),
    "mail": _("E-mails"),
    "notice_channels": _("Messages to notice channels"),
}
MAX_ALARMS = 20
MAX_SEARCH_LENGTH = 200
MAX_TRACE_ROWS = 20  # rows that a trace's page shows of each


class AuditedAdminMixin(ModelAdmin):
    """Mixin that the console's admin site adds to all its tables: it audits each addition, change and deletion.

    Django's own log describes the row in English, whatever the operator's language: some rows of libraries translate theirs.
    """

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_change(request, "add", obj, message)
        with translation.override("en"):
            return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_change(request, "change", obj, message)
        with translation.override("en"):
            return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            _record_change(request, "delete", row, [])
        with translation.override("en"):
            return super().log_deletions(request, queryset)


class OperatorConsole(admin.AdminSite):
    """The admin site of operators, which audits every change by adding AuditedAdminMixin to all its tables."""

    site_header = site_title = _("Operators' console")
    index_title = _("Service status")
    site_url = "/dashboard/"
    enable_nav_sidebar = False  # wide tables need the space

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        audited = type(f"Audited{(admin_class or ModelAdmin).__name__}", (AuditedAdminMixin, admin_class or ModelAdmin), {})
        super().register(model_or_iterable, audited, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may use the console's admin site: active staff, with a second factor if one is required."""
        return super().has_permission(request) and satisfies_second_factor_rule(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the sign-in page of the console's admin site; `?again` shows it even to a signed-in operator."""
        if request.method == "GET" and "again" not in request.GET and self.has_permission(request):
            return redirect("admin:index")
        shown = {
            **self.each_context(request),
            "title": gettext("Sign in"),
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **(extra_context or {}),
        }
        return cast(HttpResponse, PasswordStep.as_view(extra_context=shown)(request))

    def get_urls(self) -> list[Any]:
        own = [
            path("second-factor/", CodeStep.as_view(), name="second-factor"),
            path("second-factor/set-up/", SecondFactorSetUpStep.as_view(), name="second-factor-set-up"),
            path("find/", self.admin_view(self.search), name="find"),
            path("trace/<str:trace_id>/", self.admin_view(self.show_rows_of_trace), name="trace"),
            path("statement/<str:workspace_id>/", self.admin_view(partial(show_month_statement, self)), name="statement"),
            path("late-posts/", self.admin_view(self.show_late_posts), name="late-posts"),
            path("run-retention/", self.admin_view(self.run_retention), name="run-retention"),
            path("reconcile-billing/", self.admin_view(self.reconcile_billing), name="reconcile-billing"),
        ]
        return own + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "provider": settings.OIDC_ISSUER if settings.OIDC_CLIENT_ID else ""}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Page of the console's admin site: the front page, with work queues, heartbeats and open billing alarms."""
        found = status.service_status()
        alarms = list(found["billing_alarms"][: MAX_ALARMS + 1])
        shown = {**found, "billing_alarms": alarms[:MAX_ALARMS], "more_alarms": len(alarms) > MAX_ALARMS}
        shown["queues"] = [(WORK_OF_LOOPS[queue.duty], queue) for queue in found["duties"]]
        every = self.get_app_list(request)
        shown["app_list"] = [app for app in every if app["app_label"] not in LIBRARY_APPS]
        shown["open_corrections"] = count_corrections_awaiting_approval()
        shown["library_tables"] = [app for app in every if app["app_label"] in LIBRARY_APPS]
        return super().index(request, {**shown, **(extra_context or {})})

    def search(self, request: HttpRequest) -> HttpResponse:
        """Page of the console's admin site: what a search has found, by kind; an id or trace id redirects to its page."""
        words = " ".join(request.GET.get("q", "").replace("\0", "").split())[:MAX_SEARCH_LENGTH]
        kind = search_word_kind(words)
        if kind == TRACE:
            return redirect("admin:trace", trace_id=words)
        for model in self._registry:
            key: Any = model._meta.pk
            if isinstance(key, PrefixedIdField) and key.prefix == kind and model._default_manager.filter(pk=words).exists():
                return redirect(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", words)
        found = [
            (self._registry[each.model].opts, each)
            for each in find_rows(words, lambda model: self._registry[model].get_queryset(request))
            if each.rows and self._registry[each.model].has_view_permission(request)
        ]
        shown = {"title": gettext("Find"), "words": words, "found": found}
        return TemplateResponse(request, "admin/find.html", {**self.each_context(request), **shown})

    def show_rows_of_trace(self, request: HttpRequest, trace_id: str) -> TemplateResponse:
        """Page of the console's admin site: table by table, the newest rows that carry the trace id of one request."""
        if search_word_kind(trace_id) != TRACE:
            raise Http404
        tables = []
        for table in self._registry.values():
            if isinstance(table, ExactSearchAdmin) and TRACE in table.found_by and table.has_view_permission(request):
                rows, _ = table.get_search_results(request, table.get_queryset(request), trace_id)
                tables.append((table.opts, list(rows.order_by("-pk")[:MAX_TRACE_ROWS])))
        shown = {"title": gettext("Trace %(trace_id)s") % {"trace_id": trace_id}, "trace_id": trace_id, "tables": tables}
        return TemplateResponse(request, "admin/trace.html", {**self.each_context(request), **shown})

    def show_late_posts(self, request: HttpRequest) -> TemplateResponse:
        """Page of the console's admin site: the posts that are late, by how much, and why."""
        if not self._registry[PostTarget].has_view_permission(request):
            raise PermissionDenied
        now = timezone.now()
        shown = {"title": gettext("Late posts"), "late": late_targets(now), "now": now}
        return TemplateResponse(request, "admin/late_posts.html", {**self.each_context(request), **shown})

    def run_retention(self, request: HttpRequest) -> HttpResponse:
        """Page of the console's admin site: count the rows that retention would delete, and delete them once confirmed."""
        _require_superuser(request)
        if request.method == "POST":
            done = retention_run.run_retention_for_operator(caller=signed_in_operator_caller(request))
            messages.add_message(request, messages.WARNING if done.faults else messages.SUCCESS, _retention_result(done))
            return redirect("admin:index")
        shown = {
            "title": gettext("Run retention"),
            "found": retention_run.count_expired_rows_by_rule(),
            "never_deleted": [gettext(line) for line in retention_run.NEVER_DELETED],
        }
        return TemplateResponse(request, "admin/run_retention.html", {**self.each_context(request), **shown})

    def reconcile_billing(self, request: HttpRequest) -> HttpResponse:
        """Page of the console's admin site: compare and update billing at the payment processor, once confirmed."""
        _require_superuser(request)
        if request.method == "POST":
            found = reconcile_billing_for_operator(caller=signed_in_operator_caller(request))
            level = messages.SUCCESS if found.complete else messages.WARNING
            messages.add_message(request, level, _reconciliation_result(found))
            return redirect("admin:index")
        shown = {"title": gettext("Reconcile billing"), "paid": has_payment_processor()}
        return TemplateResponse(request, "admin/reconcile_billing.html", {**self.each_context(request), **shown})


def _retention_result(done: retention_run.RetentionReport) -> str:
    """Return the message that the admin site shows after a retention run; it names the rules as commands and logs do."""
    if any(done.rows.values()):
        sentences = [gettext("Deleted: %(rows)s.") % {"rows": done}]
    else:
        sentences = [gettext("Deleted: nothing.")]
    if not done.complete:
        sentences.append(gettext("More rows are left for the hourly run."))
    if done.faults:
        sentences.append(gettext("Failed rules: %(rules)s; see the log.") % {"rules": ", ".join(done.faults)})
    return " ".join(sentences)


def _reconciliation_result(found: ReconciliationResult) -> str:
    """Return the console's message about a reconciliation of billing."""
    result = gettext(
        "Workspaces checked: %(workspaces)s. Subscriptions changed: %(subscriptions)s. "
        "Usage that differs: %(differences)s. Months that drift: %(months)s."
    ) % {
        "workspaces": found.workspaces,
        "subscriptions": found.subscriptions_changed,
        "differences": found.usage_differences,
        "months": found.drifting_months,
    }
    unfinished = gettext("The processor did not answer; the next scheduled run tries again.")
    return result if found.complete else f"{result} {unfinished}"


def _require_superuser(request: HttpRequest) -> None:
    """Raise PermissionDenied unless the signed-in console user is an active superuser."""
    if not (request.user.is_active and request.user.is_superuser):
        raise PermissionDenied


def _record_change(request: HttpRequest, verb: str, row: Any, message: Any) -> None:
    """Write the audit entry for a change in the operators' console; it names the changed fields but not their values."""
    record_entry(
        caller=signed_in_operator_caller(request),
        operation=f"console.{verb}",
        resource_type=row._meta.model_name,
        resource_id=str(row.pk)[:64],
        metadata={"changes": message} if message else {},
    )
