"""Webhook delivery attempts, interpretation of responses, and the retry schedule."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import DataError, connection
from pytest_django import DjangoAssertNumQueries, Settings

from config.api.caller import WorkspaceStatus
from config.jobs.claims import claim_due, release_claims
from tests.factories import WorkspaceFactory
from tests.fakes.http_server import Answer
from tests.fakes.receiver import Manner, Receiver, answer_with, redirect_to
from tests.sending_loops import started
from tests.webhooks.rows import NOON, emit, make_delivery
from tests.webhooks.sending import LoopOfTest, deliver_until_idle
from webhooks import sender
from webhooks.models import Delivery, DeliveryStatus, SigningSecret
from webhooks.sender import AttemptOutcome, DeliveryRequest, DeliveryVerdict
from webhooks.services import deliveries
from workspaces.models import Workspace

SCHEDULE = (5, 300, 1800, 7200, 18000, 36000, 36000)


def after_one_attempt(workspace: Workspace, url: str) -> Delivery:
    """Return a delivery after its first attempt at noon."""
    with time_machine.travel(NOON, tick=False):
        emit(workspace, url)
        assert deliver_until_idle() == 1
    return Delivery.objects.get()


def deliver_at(delivery: Delivery, moment: datetime) -> Delivery:
    with time_machine.travel(moment, tick=False):
        deliver_until_idle()
    delivery.refresh_from_db()
    return delivery


def test_a_2xx_answer_delivers(workspace: Workspace) -> None:
    with Receiver(Answer(204)) as receiver:
        delivery = after_one_attempt(workspace, receiver.url + "/hook?x=1")

    assert (delivery.status, delivery.attempts, delivery.last_status_code) == (DeliveryStatus.DELIVERED, 1, 204)
    assert (delivery.delivered_at, delivery.due_at, delivery.lease_until) == (NOON, None, None)
    assert (delivery.last_error, delivery.last_response_excerpt) == (None, "")
    request = receiver.requests[0]
    assert (request.method, request.path, request.query) == ("POST", "/hook", {"x": "1"})
    assert request.headers["x-service-event"] == "post.published"
    assert request.headers["x-service-delivery-id"] == delivery.id
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("SocialPublishingService/")
    assert request.body == bytes(delivery.event.payload)


def test_every_attempt_sends_the_same_bytes_under_the_same_id_with_the_time_of_the_attempt(workspace: Workspace) -> None:
    with Receiver(500, 500, 200) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)
        for _ in range(2):
            assert delivery.due_at
            deliver_at(delivery, delivery.due_at)

    assert delivery.status == DeliveryStatus.DELIVERED
    assert {request.body for request in receiver.requests} == {bytes(delivery.event.payload)}
    assert {request.headers["x-service-delivery-id"] for request in receiver.requests} == {delivery.id}
    times = [int(request.headers["x-service-signature"][2:12]) for request in receiver.requests]
    assert times[0] == int(NOON.timestamp())
    assert 4 <= times[1] - times[0] <= 6
    assert 240 <= times[2] - times[1] <= 360


def test_failures_are_retried_along_the_schedule_and_end_as_a_dead_letter(workspace: Workspace, settings: Settings) -> None:
    settings.WEBHOOK_RETRY_SCHEDULE = SCHEDULE
    with Receiver(otherwise=500) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)
        now = NOON
        for number, pause in enumerate(SCHEDULE, start=1):
            assert (delivery.status, delivery.attempts) == (DeliveryStatus.RETRYING, number)
            assert delivery.due_at
            assert 0.8 * pause <= (delivery.due_at - now).total_seconds() <= 1.2 * pause
            assert deliver_at(delivery, delivery.due_at - timedelta(milliseconds=1)).attempts == number
            now = delivery.due_at
            deliver_at(delivery, now)

    assert (delivery.status, delivery.attempts, delivery.due_at) == (DeliveryStatus.DEAD_LETTER, 8, None)
    assert (delivery.last_status_code, delivery.last_error) == (500, "The receiver answered 500.")
    assert len(receiver.requests) == 8


def test_410_becomes_a_dead_letter_at_once(workspace: Workspace) -> None:
    with Receiver(410) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert (delivery.status, delivery.attempts, delivery.due_at) == (DeliveryStatus.DEAD_LETTER, 1, None)
    assert delivery.last_status_code == 410


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("36000", 36_000),
        ("36001", 36_000),
        ("999999999", 36_000),
        ("Wed, 10 Mar 2027 12:02:00 GMT", 120),
        ("Thu, 11 Mar 2027 12:00:00 GMT", 36_000),
    ],
)
def test_a_longer_retry_after_is_respected_up_to_ten_hours(workspace: Workspace, value: str, seconds: int) -> None:
    with Receiver(answer_with(503, {"Retry-After": value})) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert delivery.due_at == NOON + timedelta(seconds=seconds)


@pytest.mark.parametrize("value", ["1", "0", "-5", "soon", "1e9", "Wed, 10 Mar 2027 11:00:00 GMT", "Wed, 99 Mar 2027"])
def test_a_shorter_or_invalid_retry_after_changes_nothing(workspace: Workspace, value: str) -> None:
    with Receiver(answer_with(429, {"Retry-After": value})) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert delivery.due_at
    assert 4 <= (delivery.due_at - NOON).total_seconds() <= 6


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(workspace: Workspace, status: int) -> None:
    with Receiver() as elsewhere, Receiver(redirect_to(elsewhere.url, status)) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert (delivery.status, delivery.last_status_code) == (DeliveryStatus.RETRYING, status)
    assert elsewhere.requests == ()


@pytest.mark.parametrize("manner", [Manner.HANG, Manner.DRIP_HEAD, Manner.DRIP_BODY])
def test_a_receiver_that_does_not_end_is_cut_off_at_the_total_deadline(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, manner: Manner
) -> None:
    monkeypatch.setattr(sender, "ATTEMPT_TIMEOUT_SECONDS", 0.2)
    with Receiver(manner) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert (delivery.status, delivery.attempts, delivery.last_status_code) == (DeliveryStatus.RETRYING, 1, None)
    assert delivery.last_error == "No complete answer within 0.2 s."


def test_no_answer_and_no_listener_are_failures(workspace: Workspace) -> None:
    with Receiver(Manner.DROP) as receiver:
        dropped = after_one_attempt(workspace, receiver.url)
    assert dropped.status == DeliveryStatus.RETRYING
    assert dropped.last_error

    refused = deliver_at(dropped, NOON + timedelta(minutes=1))

    assert (refused.status, refused.attempts, refused.last_status_code) == (DeliveryStatus.RETRYING, 2, None)
    assert refused.last_error


def test_one_kilobyte_of_a_response_is_stored_as_text(workspace: Workspace) -> None:
    with Receiver(Answer(500, b"\0\xff" + b"x" * 5000)) as receiver:
        delivery = after_one_attempt(workspace, receiver.url)

    assert delivery.last_response_excerpt == "\ufffd\ufffd" + "x" * 1022


def test_a_refused_url_becomes_a_dead_letter_with_the_reason(workspace: Workspace) -> None:
    delivery = after_one_attempt(workspace, "https://10.0.0.1/hook")

    assert (delivery.status, delivery.attempts) == (DeliveryStatus.DEAD_LETTER, 1)
    assert delivery.last_error == "The URL's host has an address that is not public."


def test_deliveries_of_a_deleted_workspace_are_not_sent_and_make_no_secret(workspace: Workspace, receiver: Receiver) -> None:
    emit(workspace, receiver.url)
    Workspace.objects.update(status=WorkspaceStatus.DELETED)

    deliver_until_idle()

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.last_error) == (DeliveryStatus.DEAD_LETTER, "The workspace was deleted.")
    assert receiver.requests == ()
    assert not SigningSecret.objects.exists()


def test_a_secret_that_cannot_be_decrypted_delays_only_its_workspace(workspace: Workspace, receiver: Receiver) -> None:
    other = WorkspaceFactory.create()
    emit(workspace, receiver.url)
    emit(other, receiver.url)
    SigningSecret.objects.create(workspace=workspace, secret="whsec_a")
    SigningSecret.objects.filter(pk=workspace.pk).update(
        secret=SigningSecret._meta.get_field("secret").encrypt_value("x", "y")
    )

    deliver_until_idle()

    assert Delivery.objects.get(workspace=other).status == DeliveryStatus.DELIVERED
    stuck = Delivery.objects.get(workspace=workspace)
    assert (stuck.status, stuck.last_error) == (DeliveryStatus.RETRYING, "The workspace's signing secret cannot be read.")


def test_each_workspace_signs_with_its_own_secret(workspace: Workspace, receiver: Receiver) -> None:
    for one in (workspace, WorkspaceFactory.create()):
        emit(one, receiver.url)
    deliver_until_idle()

    secrets = {row.secret for row in SigningSecret.objects.all()}
    assert len(secrets) == 2


def test_a_worker_that_lost_its_claim_cannot_record(workspace: Workspace) -> None:
    make_delivery(workspace, "http://127.0.0.1:9")
    with time_machine.travel(NOON + timedelta(days=365), tick=False):
        [stale] = deliveries.claim_deliveries(Delivery.objects.all(), limit=1)
    with time_machine.travel(NOON + timedelta(days=366), tick=False):
        [fresh] = claim_due(Delivery.objects.all(), limit=1, lease=deliveries.DELIVERY_LEASE)

    assert deliveries.record_outcomes_if_still_claimed([(stale, AttemptOutcome(DeliveryVerdict.DELIVERED, 200))]) == [False]
    release_claims([stale])
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.lease_until) == (DeliveryStatus.PENDING, 0, fresh.lease_until)

    assert deliveries.record_outcomes_if_still_claimed([(fresh, AttemptOutcome(DeliveryVerdict.DELIVERED, 200))]) == [True]
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.DELIVERED, 1)


@pytest.mark.django_db(transaction=True)
def test_an_outcome_that_can_never_be_saved_holds_up_no_others(workspace: Workspace, receiver: Receiver) -> None:
    for _ in range(3):
        emit(workspace, receiver.url)
    broken = Delivery.objects.order_by("pk")[0]

    def refuse(execute: Any, sql: str, parameters: Any, *rest: Any) -> Any:
        if "UPDATE" in sql and "last_status_code" in sql and broken.pk in str(parameters):
            raise DataError("cannot be stored")
        return execute(sql, parameters, *rest)

    with started(LoopOfTest()) as loop, connection.execute_wrapper(refuse):
        loop.run_until_idle()
    delivered = Delivery.objects.filter(status=DeliveryStatus.DELIVERED).count()
    broken.refresh_from_db()
    with time_machine.travel(broken.lease_until or NOON):
        deliver_until_idle()

    assert (delivered, broken.status, broken.lease_until is None) == (2, DeliveryStatus.PENDING, False)  # sent again later
    assert (Delivery.objects.filter(status=DeliveryStatus.DELIVERED).count(), len(receiver.requests)) == (3, 4)


@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_outlasts_its_lease_is_not_begun_twice_at_a_time(workspace: Workspace) -> None:
    with Receiver(otherwise=Manner.HANG) as receiver, started(LoopOfTest()) as loop:
        emit(workspace, receiver.url)
        loop.run_once()
        receiver.wait_for(1)
        delivery = Delivery.objects.get()
        with time_machine.travel((delivery.lease_until or NOON) + timedelta(seconds=1)):
            loop.run_once()
            delivery.refresh_from_db()
            receiver.release()
            loop.run_until_idle()
        at_first = len(receiver.requests)
        renewed_until = delivery.lease_until
        delivery.refresh_from_db()
        with time_machine.travel(renewed_until or NOON):
            loop.run_until_idle()

        assert (at_first, delivery.status) == (1, DeliveryStatus.PENDING)  # the answer came under an old claim
        assert (Delivery.objects.get().status, len(receiver.requests)) == (DeliveryStatus.DELIVERED, 2)


def test_a_released_claim_is_due_at_once_and_counts_no_attempt(workspace: Workspace) -> None:
    make_delivery(workspace, "http://127.0.0.1:9")
    claimed = deliveries.claim_deliveries(Delivery.objects.all(), limit=1)
    assert deliveries.claim_deliveries(Delivery.objects.all(), limit=1) == []

    release_claims(claimed)

    [again] = deliveries.claim_deliveries(Delivery.objects.all(), limit=1)
    assert again.attempts == 0


def test_500_deliveries_are_claimed_and_recorded_with_few_queries(
    workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(500):
        emit(workspace, "https://receiver.example.com/")

    # Claim: check, claim, select; events and workspaces. Secrets: check, begin, insert, commit, read. Record: five updates.
    with django_assert_max_num_queries(13):
        claimed = deliveries.claim_deliveries(Delivery.objects.all(), limit=500)
        keys = deliveries.get_or_create_secrets_for_deliveries(claimed)
        assert all(isinstance(deliveries.signed_request_or_outcome(each, keys), DeliveryRequest) for each in claimed)
        outcome = AttemptOutcome(DeliveryVerdict.DELIVERED, 200)
        deliveries.record_outcomes_if_still_claimed([(each, outcome) for each in claimed])

    assert Delivery.objects.filter(status=DeliveryStatus.DELIVERED, attempts=1).count() == 500
