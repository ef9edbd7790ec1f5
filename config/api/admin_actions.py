"""What operators set going from the console: services, with the signed-in operator as their caller."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.module_loading import import_string

from config.api.caller import Caller, WorkspaceStatus, operator_caller
from config.api.errors import ApiError
from config.api.scopes import ALL_SCOPES

Action = Callable[..., HttpResponseBase | None]


def operator_of(request: HttpRequest, workspace: Any = None) -> Caller:
    """The signed-in operator as services take callers; audit entries name them, `via` operator.

    In a `workspace` they hold every scope, while it is paused too; one that was deleted is not there for them either.
    """
    caller = replace(operator_caller(request.META.get("REMOTE_ADDR") or None), actor_id=str(request.user.pk))
    if workspace is None:
        return caller
    deleted = workspace.status == WorkspaceStatus.DELETED
    status = WorkspaceStatus.DELETED if deleted else WorkspaceStatus.ACTIVE
    return replace(caller, workspace_id=workspace.pk, scopes=ALL_SCOPES, workspace_status=status)


def asks_first(warning: str, form_class: type[forms.Form] = forms.Form) -> Callable[[Action], Action]:
    """For an action that cannot be taken back: a page says what it does to which rows, and waits for a yes.

    What the page's form brings is given to the action as keyword arguments. Goes below `@admin.action`.
    """

    def decorate(action: Action) -> Action:
        @functools.wraps(action)
        def ask(model_admin: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponseBase | None:
            form = form_class(request.POST if "confirmed" in request.POST else None)
            if form.is_valid():
                return action(model_admin, request, rows, **form.cleaned_data)
            shown = {
                **model_admin.admin_site.each_context(request),
                "title": str(ask.short_description),  # type: ignore[attr-defined]  # by @admin.action
                "opts": model_admin.opts,
                "warning": warning,
                "rows": rows,
                "form": form,
                "action": action.__name__,
            }
            return TemplateResponse(request, "admin/confirm_action.html", shown)

        return ask

    return decorate


class OperatingAdmin(admin.ModelAdmin):
    """A table with actions, declared with `permissions=["operate"]`: for whom Django's permission to change it is given."""

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.{get_permission_codename('change', self.opts)}")

    def carry_out(
        self, request: HttpRequest, rows: Iterable[Any], operation: str, work: Callable[[Any], object], done: str
    ) -> None:
        """`work` for each row. What is refused is told and put on record as a refused `operation`, and holds up no other."""
        finished = []
        for row in rows:
            try:
                work(row)
            except ApiError as error:
                put_on_record(request, operation, error)
                self.message_user(request, f"{row.pk}: {error.message} {error.suggested_action}", messages.WARNING)
            else:
                finished.append(str(row.pk))
        if finished:
            self.message_user(request, f"{done}: {', '.join(finished)}.", messages.SUCCESS)


def put_on_record(request: HttpRequest, operation: str, error: ApiError) -> None:
    """An audit entry of what the operator was refused."""
    recorder = import_string(settings.REFUSAL_RECORDER)
    recorder(caller=operator_of(request), operation=operation, error=error, dry_run=False)
