"""The operators' console: Django's admin with a front page of its own, and one place from which its changes are audited."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone

from auditlog.services import record
from billing.plans import is_paid
from billing.services import reconcile_now
from config.api.admin_actions import signed_in_operator
from config.api.admin_search import TRACE, ExactSearchAdmin, search_word_kind
from config.console import retention, status
from config.console.operators.sign_in import CodeStep, PasswordStep, SetUpStep, is_strong_enough
from config.db.ids import PrefixedIdField

MAX_ALARMS = 20
MAX_TRACE_ROWS = 20  # rows that a trace's page shows of each


class AuditedAdmin(ModelAdmin):
    """Writes an audit entry beside each of Django's own log entries."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_change(request, "add", obj, message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_change(request, "change", obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            _record_change(request, "delete", row, [])
        return super().log_deletions(request, queryset)


class OperatorConsole(admin.AdminSite):
    """Every table that is registered here is an audited one."""

    site_header = site_title = "Operators' console"
    index_title = "How the service stands"
    site_url = "/dashboard/"
    enable_nav_sidebar = False  # wide tables need the room

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        audited = type(f"Audited{(admin_class or ModelAdmin).__name__}", (AuditedAdmin, admin_class or ModelAdmin), {})
        super().register(model_or_iterable, audited, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Every page of the console needs an operator with all the factors that are asked for."""
        return super().has_permission(request) and is_strong_enough(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Name and password; `again` in the query asks for them even though an operator is signed in."""
        if request.method == "GET" and "again" not in request.GET and self.has_permission(request):
            return redirect("admin:index")
        shown = {
            **self.each_context(request),
            "title": "Sign in",
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **(extra_context or {}),
        }
        return cast(HttpResponse, PasswordStep.as_view(extra_context=shown)(request))

    def get_urls(self) -> list[Any]:
        own = [
            path("second-factor/", CodeStep.as_view(), name="second-factor"),
            path("second-factor/set-up/", SetUpStep.as_view(), name="second-factor-set-up"),
            path("find/", self.admin_view(self.find), name="find"),
            path("trace/<str:trace_id>/", self.admin_view(self.trace), name="trace"),
            path("run-retention/", self.admin_view(self.run_retention), name="run-retention"),
            path("reconcile-billing/", self.admin_view(self.reconcile_billing), name="reconcile-billing"),
        ]
        return own + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "provider": settings.OIDC_ISSUER if settings.OIDC_CLIENT_ID else ""}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """The front page: how the service stands, and what somebody has to look at."""
        return super().index(request, {**front_page_context(), **(extra_context or {})})

    def find(self, request: HttpRequest) -> HttpResponse:
        """Go to what an id or a trace id names; anything else is looked for among the workspaces."""
        word = request.GET.get("q", "").strip()
        kind = search_word_kind(word)
        if kind == TRACE:
            return redirect("admin:trace", trace_id=word)
        for model in self._registry:
            if isinstance(model._meta.pk, PrefixedIdField) and model._meta.pk.prefix == kind:
                return redirect(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", word)
        return redirect(reverse("admin:workspaces_workspace_changelist", query={"q": word}))

    def trace(self, request: HttpRequest, trace_id: str) -> TemplateResponse:
        """What stands under a trace, newest first."""
        if search_word_kind(trace_id) != TRACE:
            raise Http404
        tables = []
        for table in self._registry.values():
            if isinstance(table, ExactSearchAdmin) and TRACE in table.found_by and table.has_view_permission(request):
                rows, _ = table.get_search_results(request, table.get_queryset(request), trace_id)
                tables.append((table.opts, list(rows.order_by("-pk")[:MAX_TRACE_ROWS])))
        shown = {"title": f"Trace {trace_id}", "trace_id": trace_id, "tables": tables}
        return TemplateResponse(request, "admin/trace.html", {**self.each_context(request), **shown})

    def run_retention(self, request: HttpRequest) -> HttpResponse:
        """What would go by now, and on a yes a run of the retention."""
        _require_superuser(request)
        if request.method == "POST":
            done = retention.run_for_operator(caller=signed_in_operator(request))
            gone = ", ".join(f"{name} {rows}" for name, rows in done.rows.items() if rows) or "nothing"
            left = "" if done.complete else " More is left; the hourly run goes on."
            faults = f" Not carried out: {', '.join(done.faults)}; the log says why." if done.faults else ""
            messages.add_message(
                request, messages.WARNING if faults else messages.SUCCESS, f"Gone: {gone}.{left}{faults}"
            )
            return redirect("admin:index")
        shown = {"title": "Run the retention", "found": retention.count_expired(), "kept": retention.NEVER_DELETED}
        return TemplateResponse(request, "admin/run_retention.html", {**self.each_context(request), **shown})

    def reconcile_billing(self, request: HttpRequest) -> HttpResponse:
        """The nightly look at the processor's truth and at the books, at once."""
        _require_superuser(request)
        if request.method == "POST":
            found = reconcile_now(caller=signed_in_operator(request))
            told = (
                f"Workspaces looked at: {found.workspaces}. Subscriptions changed: {found.subscriptions_changed}. "
                f"Usage that differs: {found.usage_differences}. Months that drift: {found.drifting_months}."
            )
            unfinished = "" if found.complete else " The processor did not answer; the beat takes it up again."
            level = messages.SUCCESS if found.complete else messages.WARNING
            messages.add_message(request, level, told + unfinished)
            return redirect("admin:index")
        shown = {"title": "Reconcile billing", "paid": is_paid()}
        return TemplateResponse(request, "admin/reconcile_billing.html", {**self.each_context(request), **shown})


def front_page_context() -> dict[str, Any]:
    """What the front page tells: rows that indexes hold apart, and alarms as they were stored."""
    now = timezone.now()
    beats = status.heartbeats()
    alarms = list(status.open_alarms()[: MAX_ALARMS + 1])
    return {
        "now": now,
        "queues": status.queues(now),
        "beat_at": beats.get(status.BEAT),
        "beat_alive": status.is_recent(beats.get(status.BEAT), now, status.BEAT_ALIVE_WITHIN),
        "retention_at": beats.get(status.RETENTION),
        "dead_letters": status.dead_letters(),
        "accounts_needing_reauth": status.accounts_needing_reauth(),
        "drifting_months": status.drifting_months(),
        "alarms": alarms[:MAX_ALARMS],
        "more_alarms": len(alarms) > MAX_ALARMS,
    }


def _require_superuser(request: HttpRequest) -> None:
    """Raise PermissionDenied for staff to whom only some tables are opened."""
    if not (request.user.is_active and request.user.is_superuser):
        raise PermissionDenied


def _record_change(request: HttpRequest, verb: str, row: Any, message: Any) -> None:
    """Django's change messages name fields, and hold none of their values."""
    record(
        caller=signed_in_operator(request),
        operation=f"console.{verb}",
        resource_type=row._meta.model_name,
        resource_id=str(row.pk)[:64],
        metadata={"changes": message} if message else {},
    )
