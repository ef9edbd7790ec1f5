"""Actions of the Django admin that change rows: the base class, a confirmation page, and audit entries of refusals."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import quote
from django.contrib.auth import get_permission_codename
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.module_loading import import_string

from config.api.caller import Caller, WorkspaceStatus, operator_caller
from config.api.errors import ApiError
from config.api.scopes import ALL_SCOPES
from config.pages.sentences import error_sentences

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Action = Callable[..., HttpResponseBase | None]
FROM_ROW = "from_row"  # the field that names the row on whose page an action was started
PRESERVED_FILTERS = "_changelist_filters"  # Django's name for the query of the list that a row's page was opened from


def signed_in_operator_caller(request: HttpRequest, workspace: Any = None) -> Caller:
    """Return the caller of an admin action: the signed-in operator, whom the audit entries name.

    Within a `workspace` the operator has every scope, even while it is paused. A deleted workspace is not accessible.
    """
    caller = replace(operator_caller(request.META.get("REMOTE_ADDR") or None), actor_id=str(request.user.pk))
    if workspace is None:
        return caller
    deleted = workspace.status == WorkspaceStatus.DELETED
    status = WorkspaceStatus.DELETED if deleted else WorkspaceStatus.ACTIVE
    return replace(caller, workspace_id=workspace.pk, scopes=ALL_SCOPES, workspace_status=status)


def requires_confirmation(warning: StrOrPromise, form_class: type[forms.Form] = forms.Form) -> Callable[[Action], Action]:
    """Decorate an admin action: a page says what it will do, to how many rows and to which, before it runs.

    The fields of the page's form are passed to the action as keyword arguments. Place this decorator below `@admin.action`.
    """

    def decorate(action: Action) -> Action:
        @functools.wraps(action)
        def action_or_confirmation(
            model_admin: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any]
        ) -> HttpResponseBase | None:
            form = form_class(request.POST if "confirmed" in request.POST else None)
            if form.is_valid():
                return action(model_admin, request, rows, **form.cleaned_data)
            shown = {
                **model_admin.admin_site.each_context(request),
                "title": str(action_or_confirmation.short_description),  # type: ignore[attr-defined]  # by @admin.action
                "opts": model_admin.opts,
                "warning": str(warning),
                "rows": rows,
                "form": form,
                "action": action.__name__,
                "came_from": _page_that_was_left(request, model_admin),
                "changelist_filters": request.POST.get(PRESERVED_FILTERS, ""),
                "from_row": request.POST.get(FROM_ROW, ""),
            }
            return TemplateResponse(request, "admin/confirm_action.html", shown)

        return action_or_confirmation

    return decorate


def _page_that_was_left(request: HttpRequest, model_admin: admin.ModelAdmin) -> str:
    """Return the address of the admin list or of the row's page from which an action was started.

    The list has its filters, search and page. The page of a row names the filters of the list before it, as Django does.
    """
    row, filters = request.POST.get(FROM_ROW, ""), request.POST.get(PRESERVED_FILTERS, "")
    if not row:
        return request.get_full_path()
    opts = model_admin.opts
    path = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[quote(row)])
    return f"{path}?{urlencode({PRESERVED_FILTERS: filters})}" if filters else path


class ReturnAfterActionAdmin(admin.ModelAdmin):
    """Mixin of a ModelAdmin that returns after an admin action to the page on which it was started."""

    def response_action(  # type: ignore[override]  # the stubs are those of a later Django
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        answer = super().response_action(request, queryset)
        return redirect(_page_that_was_left(request, self)) if isinstance(answer, HttpResponseRedirect) else answer


class ChangePermissionActionsAdmin(ReturnAfterActionAdmin):
    """Base ModelAdmin of tables with admin actions: only operators with Django's change permission may run them."""

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.{get_permission_codename('change', self.opts)}")

    def run_action_for_each_row(
        self, request: HttpRequest, rows: Iterable[Any], operation: str, work: Callable[[Any], object], done: str
    ) -> None:
        """Run an admin action on each selected row; show and audit each refusal, and continue with the next row."""
        finished = []
        for row in rows:
            try:
                work(row)
            except ApiError as error:
                record_refused_admin_action(request, operation, error)
                self.message_user(request, f"{row.pk}: {refusal_text(error, operation)}", messages.WARNING)
            else:
                finished.append(str(row.pk))
        if finished:
            self.message_user(request, f"{done}: {', '.join(finished)}.", messages.SUCCESS)


def refusal_text(error: ApiError, operation: str) -> str:
    """Return why an admin action was refused and what to do, in the language of the page; `operation` is what was tried."""
    return " ".join(error_sentences(error, operation))


def record_refused_admin_action(request: HttpRequest, operation: str, error: ApiError) -> None:
    """Record the refusal of an admin action: write an audit entry that names the operator."""
    recorder = import_string(settings.REFUSAL_RECORDER)
    recorder(caller=signed_in_operator_caller(request), operation=operation, error=error, dry_run=False)
