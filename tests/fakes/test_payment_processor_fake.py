"""The stand-in keeps to what Stripe's reference says, as the processor's own client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import stripe
import time_machine

from tests.fakes.payment_processor import METER, FakePaymentProcessor

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
SECOND = int(NOON.timestamp())


@pytest.fixture
def processor() -> Iterator[FakePaymentProcessor]:
    with FakePaymentProcessor("sk_test_1") as processor:
        yield processor


@pytest.fixture
def client(processor: FakePaymentProcessor) -> stripe.StripeClient:
    return stripe.StripeClient("sk_test_1", base_addresses={"api": processor.url}, max_network_retries=0)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def report(client: stripe.StripeClient, key: str = "", **fields: Any) -> Any:
    payload = {"stripe_customer_id": "cus_1", "value": "5"}
    wanted: Any = {"event_name": "social_publishing_cents", "identifier": "one", "payload": payload, **fields}
    return client.v1.billing.meter_events.create(wanted, {"idempotency_key": key} if key else None)


def test_an_identifier_is_taken_once_in_24_hours(
    client: stripe.StripeClient, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    assert report(client).identifier == "one"
    clock.shift(timedelta(hours=23, minutes=59))
    with pytest.raises(stripe.InvalidRequestError, match="An event already exists with identifier one"):
        report(client)
    clock.shift(timedelta(minutes=1))
    report(client)

    assert processor.recorded_cents("cus_1") == 10


@pytest.mark.parametrize(("seconds", "taken"), [(-35 * 86_400, True), (-35 * 86_400 - 1, False), (300, True), (301, False)])
def test_a_timestamp_lies_within_35_days(
    client: stripe.StripeClient, clock: time_machine.Traveller, seconds: int, taken: bool
) -> None:
    if taken:
        assert report(client, timestamp=SECOND + seconds).timestamp == SECOND + seconds
    else:
        with pytest.raises(stripe.InvalidRequestError):
            report(client, timestamp=SECOND + seconds)


def test_an_idempotency_key_is_answered_the_first_answer_again_a_500_too(
    client: stripe.StripeClient, processor: FakePaymentProcessor
) -> None:
    processor.fail_next("meter_events.create", 500)
    for _ in range(2):
        with pytest.raises(stripe.APIError):
            report(client, key="a")
    assert processor.meter_events == {}
    first, again = report(client, key="b"), report(client, key="b")

    assert first.identifier == again.identifier
    assert processor.recorded_cents("cus_1") == 5


def test_summaries_add_up_whole_minutes(client: stripe.StripeClient, clock: time_machine.Traveller) -> None:
    for number, second in enumerate((0, 59, 60)):
        report(client, identifier=str(number), timestamp=SECOND - 120 + second)

    def added(start: int, end: int) -> list[float]:
        asked: Any = {"customer": "cus_1", "start_time": SECOND + start, "end_time": SECOND + end}
        return [one.aggregated_value for one in client.v1.billing.meters.event_summaries.list(METER, asked).data]

    assert (added(-120, -60), added(-60, 0), added(0, 60)) == ([10.0], [5.0], [])
    with pytest.raises(stripe.InvalidRequestError, match="minute boundaries"):
        added(-119, 0)


def test_subscriptions_are_listed_latest_first_and_ended_ones_when_asked_for(
    client: stripe.StripeClient, processor: FakePaymentProcessor
) -> None:
    for status in ("canceled", "active"):
        processor.subscribe("cus_1", status)
    processor.subscribe("cus_2")

    def ids(**query: str) -> list[str]:
        asked: Any = {"customer": "cus_1", **query}
        return [one.id for one in client.v1.subscriptions.list(asked).data]

    assert (ids(), ids(status="all"), ids(status="canceled")) == (["sub_2"], ["sub_2", "sub_1"], ["sub_1"])
    assert client.v1.subscriptions.retrieve("sub_2").status == "active"
    assert client.v1.subscriptions.cancel("sub_2").status == "canceled"
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.subscriptions.cancel("sub_2")
    assert refusal.value.code == "resource_missing"
