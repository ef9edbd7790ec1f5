"""The console's page of a workspace's month as a statement, with its CSV file and the form that proposes a correction."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from auditlog.csv_export import streamed_csv_response
from billing.caps import UtcMonth
from billing.month_statement import STATEMENT_COLUMNS, build_month_statement, statement_csv_lines
from billing.services import propose_correction
from config.api.errors import ApiError
from config.pages.admin_actions import record_refused_admin_action, refusal_text, signed_in_operator_caller
from config.pages.language import format_date
from workspaces.models import Workspace


class CorrectionForm(forms.Form):
    """The console's form, on a month's statement, that proposes a correction: a credit or a charge."""

    kind = forms.ChoiceField(
        label=_("Kind"), choices=[("credit", _("Credit to the customer")), ("charge", _("Charge to the customer"))]
    )
    cents = forms.IntegerField(min_value=1, max_value=100_000_00, label=_("Amount in cents"))
    reason = forms.CharField(
        max_length=500, widget=forms.TextInput(attrs={"size": 60}), label=_("Reason, which the customer sees")
    )


def show_month_statement(site: AdminSite, request: HttpRequest, workspace_id: str) -> HttpResponseBase:
    """Console page: the statement of a workspace's month, as CSV with `?format=csv`; POST proposes a correction."""
    if not request.user.has_perm("billing.view_ledgerentry"):
        raise PermissionDenied
    workspace = get_object_or_404(Workspace, pk=workspace_id)
    month = UtcMonth.from_name_or_current(request.GET.get("month", "")).start.date()
    form = CorrectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _propose(request, workspace, month, form.cleaned_data):
        return redirect(f"{reverse('admin:statement', args=[workspace.pk])}?month={month:%Y-%m}")
    statement = build_month_statement(caller=signed_in_operator_caller(request), workspace=workspace, month=month)
    if request.GET.get("format") == "csv":
        return _csv(statement)
    title = gettext("Statement of %(workspace)s, %(month)s") % {
        "workspace": workspace.name,
        "month": format_date(month, "F Y"),
    }
    shown = {"title": title, "statement": statement, "form": form}
    return TemplateResponse(request, "admin/statement.html", {**site.each_context(request), **shown})


def _csv(statement: Any) -> StreamingHttpResponse:
    name = f"statement-{statement.workspace.pk}-{statement.month:%Y-%m}"
    return streamed_csv_response(statement_csv_lines(statement), name, STATEMENT_COLUMNS)


def _propose(request: HttpRequest, workspace: Workspace, month: date, entered: dict[str, Any]) -> bool:
    """Propose the correction that an operator entered for a billing month; if it is refused, show why and return False."""
    if not request.user.has_perm("billing.change_correction"):
        raise PermissionDenied
    cents = -entered["cents"] if entered["kind"] == "credit" else entered["cents"]
    try:
        propose_correction(
            caller=signed_in_operator_caller(request),
            workspace_id=workspace.pk,
            month=month,
            cents=cents,
            reason=entered["reason"],
        )
    except ApiError as error:
        record_refused_admin_action(request, "ops.propose_correction", error)
        messages.warning(request, refusal_text(error, "ops.propose_correction"))
        return False
    messages.success(request, gettext("Proposed. Nothing has changed until another operator approves it, within 14 days."))
    return True
