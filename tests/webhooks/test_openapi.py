"""The webhooks section of the OpenAPI document."""

from __future__ import annotations

from drf_spectacular.plumbing import ComponentRegistry, process_webhooks
from openapi_spec_validator import OpenAPIV31SpecValidator

from webhooks.event_kinds import DELIVERED_KINDS
from webhooks.openapi import OPENAPI_WEBHOOKS


def test_every_kind_of_event_is_a_valid_webhook_of_the_document() -> None:
    webhooks = process_webhooks(OPENAPI_WEBHOOKS, ComponentRegistry())
    document = {"openapi": "3.1.0", "info": {"title": "Events", "version": "1"}, "webhooks": webhooks}

    assert list(webhooks) == [kind.value for kind in DELIVERED_KINDS]
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
