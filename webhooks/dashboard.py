"""The dashboard pages of webhooks: list of deliveries, one delivery, its replay, and the signing secret."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from config.api.errors import missing_or_foreign_id_error
from config.db.ids import is_id
from webhooks import selectors, services
from webhooks.models import Delivery, DeliveryStatus
from webhooks.signing import delivery_headers_with_signature
from workspaces.workspace_page import WorkspacePage, run_once_per_submission, workspace_page

PER_PAGE = 50
MAX_PAYLOAD_CHARACTERS = 30_000  # characters of a payload that the page shows
RELOAD_PAGE_BEFORE_ATTEMPT = timedelta(minutes=1)
STATUS_CHOICES = [
    (DeliveryStatus.PENDING.value, _("Pending")),
    (DeliveryStatus.RETRYING.value, _("Retrying")),
    (DeliveryStatus.DELIVERED.value, _("Delivered")),
    (DeliveryStatus.DEAD_LETTER.value, _("Given up")),
]
SIGNATURE_FORMAT = "t=<unix seconds of the attempt>,v1=<HMAC-SHA256 in hex>"


class DeliveryFilterForm(forms.Form):
    """The dashboard form with the filters of the list of webhook deliveries; invalid filters only show an error."""

    status = forms.ChoiceField(label=_("State"), choices=[("", _("All")), *STATUS_CHOICES], required=False)
    post = forms.CharField(
        label=pgettext_lazy("noun", "Post"), required=False, widget=forms.TextInput({"placeholder": "pgr_…"})
    )

    def clean_post(self) -> str:
        post = str(self.cleaned_data["post"])
        if post and not is_id(post, "pgr"):
            raise forms.ValidationError(_("Post ids begin with pgr_."))
        return post


@workspace_page()
def list_deliveries(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the workspace's webhook deliveries, filtered and newest first."""
    asked = page.request.GET
    form = DeliveryFilterForm(asked)
    form.is_valid()
    found = selectors.list_deliveries(
        caller=page.caller,
        workspace_id=page.workspace.id,
        status=form.cleaned_data.get("status"),
        post_group_id=form.cleaned_data.get("post"),
        limit=PER_PAGE,
        cursor=asked.get("cursor"),
    )
    return page.render(
        "webhooks/deliveries.html",
        form=form,
        deliveries=found.rows,
        next_cursor=found.next_cursor,
        runs=_runs(found.rows) or ("wait" in asked and not found.rows),
        both_until=selectors.previous_secret_expiry(caller=page.caller, workspace_id=page.workspace.id),
    )


@workspace_page("POST", operation="workspaces.get_signing_secret")
def show_signing_secret(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the workspace's webhook signing secret, in response to a submitted form (POST) only."""
    shown = services.get_or_create_and_audit_signing_secret(caller=page.caller, workspace_id=page.workspace.id)
    return page.render("webhooks/secret.html", secret=shown)


@workspace_page("POST", operation="workspaces.rotate_signing_secret")
def rotate_workspace_signing_secret(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: replace the workspace's webhook signing secret, and show the new secret.

    If the form is submitted twice, the secret is replaced only once.
    """
    made: list[str | None] = []

    def rotate() -> Any:
        made.append(services.rotate_signing_secret_of_workspace(caller=page.caller, workspace_id=page.workspace.id))
        return page.workspace

    run_once_per_submission(page, "workspaces.rotate_signing_secret", rotate)
    if not made:
        return page.success_redirect(gettext("The secret was already replaced."), "webhooks")
    return page.render("webhooks/secret.html", secret=made[0], replaced=True)


@workspace_page()
def show_delivery(page: WorkspacePage, delivery_id: str) -> HttpResponse:
    """Dashboard page: show one webhook delivery, with attempts, headers, payload and the receiver's last response."""
    found = _delivery_on(page, delivery_id)
    now = timezone.now()
    payload = json.dumps(json.loads(bytes(found.event.payload)), indent=2, ensure_ascii=False)
    headers = delivery_headers_with_signature(found.id, found.event.kind, SIGNATURE_FORMAT)
    return page.render(
        "webhooks/delivery.html",
        delivery=found,
        headers={**headers, "user-agent": settings.OUTBOUND_USER_AGENT},
        payload=payload[:MAX_PAYLOAD_CHARACTERS],
        cut=len(payload) > MAX_PAYLOAD_CHARACTERS,
        in_flight=found.is_in_flight(now),
        runs=_runs([found]),
    )


@workspace_page("POST", operation="webhooks.replay")
def replay_delivery(page: WorkspacePage, delivery_id: str) -> HttpResponse:
    """Dashboard page: send a webhook delivery again, when its replay button is clicked."""
    found = _delivery_on(page, delivery_id)
    run_once_per_submission(
        page, "webhooks.replay", lambda: services.replay_delivery(caller=page.caller, delivery_id=found.id)
    )
    return page.success_redirect(gettext("The delivery is being sent again."), "delivery", delivery_id=found.id)


def _delivery_on(page: WorkspacePage, delivery_id: str) -> Delivery:
    """Return the webhook delivery named in a dashboard URL.

    Raises NotFound if the delivery belongs to another workspace.
    """
    found = selectors.get_delivery(caller=page.caller, delivery_id=delivery_id, scope="posts.read", write=False)
    if found.workspace_id != page.workspace.id:
        raise missing_or_foreign_id_error(None, "delivery")
    return found


def _runs(rows: Iterable[Delivery]) -> bool:
    """Return whether the dashboard page should reload itself, because a shown webhook delivery will soon be attempted."""
    soon = timezone.now() + RELOAD_PAGE_BEFORE_ATTEMPT
    return any(row.due_at is not None and row.due_at < soon for row in rows)
