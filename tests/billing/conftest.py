"""Fixtures for paid mode with a fake payment processor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine
from pytest_django import Settings

from billing.models import Subscription
from tests.billing.processor_events import SECRET
from tests.billing.rows import MARCH, make_workspace
from tests.fakes.payment_processor import FakePaymentProcessor
from workspaces.models import Workspace

KEY = "sk_test_of_the_stand_in"


@pytest.fixture
def processor(settings: Settings) -> Iterator[FakePaymentProcessor]:
    """The fake payment processor; the service is in paid mode with prices for two of the three plans."""
    with FakePaymentProcessor(KEY) as processor:
        settings.STRIPE_SECRET_KEY = KEY
        settings.STRIPE_WEBHOOK_SECRET = SECRET
        settings.STRIPE_API_BASE, settings.OUTBOUND_ALLOW_LOOPBACK = processor.url, True
        settings.STRIPE_PRICES = {"payg": "price_payg", "pro": "price_pro", "scale": ""}
        settings.BASE_URL = "https://posts.example.com"
        yield processor


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(MARCH, tick=False) as traveller:
        yield traveller


@pytest.fixture
def payer(processor: FakePaymentProcessor, clock: time_machine.Traveller) -> Workspace:
    """A workspace with ten cents of free credit and a paying subscription."""
    workspace = make_workspace(free=10, cap=100_000)
    Workspace.objects.filter(pk=workspace.pk).update(processor_customer_id="cus_9")
    Subscription.objects.create(workspace_id=workspace.pk, customer_id="cus_9", status="active")
    return workspace
