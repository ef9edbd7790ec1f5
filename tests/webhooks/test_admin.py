"""The operators' console shows deliveries and keeps secrets to itself."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.webhooks.rows import make_delivery
from webhooks.models import SigningSecret
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def test_signing_secrets_are_never_shown(workspace: Workspace, operator: Client) -> None:
    secret = SigningSecret.objects.create(workspace=workspace, secret="whsec_shown_nowhere")

    for path in ("", f"{secret.pk}/change/"):
        page = operator.get(f"/admin/webhooks/signingsecret/{path}")
        assert page.status_code == 200
        assert b"whsec_" not in page.content


def test_deliveries_and_events_are_shown_and_cannot_be_changed(workspace: Workspace, operator: Client) -> None:
    delivery = make_delivery(workspace, "http://127.0.0.1:9/hook")

    for path in ("delivery/", f"delivery/{delivery.pk}/change/", "event/", f"event/{delivery.event_id}/change/"):
        assert operator.get(f"/admin/webhooks/{path}").status_code == 200
    assert operator.get("/admin/webhooks/delivery/add/").status_code == 403
    assert operator.post(f"/admin/webhooks/delivery/{delivery.pk}/change/", {"status": "delivered"}).status_code == 403
