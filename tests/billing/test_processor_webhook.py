"""Tests of POST /billing/webhooks/processor."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
import stripe
import time_machine
from django.test import Client

from auditlog.models import AuditEntry
from billing.models import ProcessorEvent
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.routes import described
from tests.in_threads import in_threads
from workspaces.models import User, Workspace

PATH = "/billing/webhooks/processor"
SECRET = "whsec_of_the_test"
NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
T = int(NOON.timestamp())
EVENT = {"id": "evt_1", "object": "event", "type": "invoice.paid", "data": {"object": {"id": "in_1", "note": "ü"}}}
BODY = json.dumps(EVENT, indent=2, ensure_ascii=False).encode()

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _secret(settings: Any) -> None:
    settings.STRIPE_WEBHOOK_SECRET = SECRET


@pytest.fixture(autouse=True)
def _noon() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


def v1(body: bytes = BODY, at: int | str = T, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def send(header: str | None, body: bytes = BODY, name: str = "Processor-Signature", **headers: str) -> Any:
    return ApiClient().post(PATH, body, **({name: header} if header is not None else {}), **headers)


def test_a_signed_event_is_stored_as_received() -> None:
    header = f"t={T},v1={v1()}"
    answer = send(header)

    assert (answer.status_code, answer.json()) == (200, {"received": True})
    event = ProcessorEvent.objects.get()
    assert (event.event_id, event.type, event.payload.encode()) == ("evt_1", "invoice.paid", BODY)
    assert (event.received_at, event.processed_at, event.due_at) == (NOON, None, NOON)
    assert stripe.WebhookSignature.verify_header(BODY.decode(), header, SECRET)  # the processor's own means agree


@pytest.mark.parametrize(
    "header",
    [
        f"t={T},v1={v1()}",
        f"v1={v1()},t={T}",
        f"t={T},v1={'0' * 64},v1={v1()}",
        f"t={T},v1={v1()},v1={'0' * 64}",
        f"t={T},v0={'0' * 64},v1={v1()}",
        f"t={T}, v1={v1()}",
        f"t={T - 300},v1={v1(at=T - 300)}",
        f"t={T + 300},v1={v1(at=T + 300)}",
    ],
)
@pytest.mark.parametrize("name", ["Processor-Signature", "Stripe-Signature"])
def test_a_valid_signature_is_accepted(header: str, name: str) -> None:
    assert send(header, name=name).status_code == 200
    assert ProcessorEvent.objects.count() == 1


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        f"t={T}",
        f"t={T},v1=",
        f"v1={v1()}",
        f"t=,v1={v1(at='')}",
        f"t={T},v1={v1()[:-1]}",
        f"t={T},v1={v1()}0",
        f"t={T},v1={v1().upper()}",
        f"t={T},v0={v1()}",
        f"t={T},v1={v1(secret='whsec_other')}",
        f"t={T},v1={v1(secret='')}",
        f"t={T},v1={v1(body=BODY + b' ')}",
        f"t={T},v1={v1(at=T - 1)}",
        f"t={T - 301},v1={v1(at=T - 301)}",
        f"t={T + 301},v1={v1(at=T + 301)}",
        f"t={T},t={T - 301},v1={v1()}",
        f"t={T}.0,v1={v1(at=f'{T}.0')}",
        f"t=-{T},v1={v1(at=f'-{T}')}",
        f"t={'9' * 400},v1={v1(at='9' * 400)}",
        f"t=٣,v1={v1(at='٣')}",
        f"t={T},v1=ü",
        f"t={T};v1={v1()}",
    ],
)
def test_an_invalid_signature_is_refused_and_nothing_stored(header: str | None) -> None:
    assert_envelope(send(header), 400, "SIGNATURE_INVALID")
    assert not ProcessorEvent.objects.exists()


def test_the_signature_covers_the_raw_bytes() -> None:
    same = json.dumps(EVENT).encode()

    assert_envelope(send(f"t={T},v1={v1()}", same), 400, "SIGNATURE_INVALID")
    assert send(f"t={T},v1={v1(same)}", same).status_code == 200


@pytest.mark.parametrize("length", [0, 1, len(BODY) // 2, len(BODY) - 1])
def test_a_truncated_body_is_refused_and_nothing_stored(length: int) -> None:
    assert_envelope(send(f"t={T},v1={v1()}", BODY[:length]), 400, "SIGNATURE_INVALID")
    assert not ProcessorEvent.objects.exists()


def test_only_the_first_copy_of_an_event_is_stored() -> None:
    again = json.dumps({**EVENT, "type": "invoice.changed"}).encode()
    answers = [send(f"t={T},v1={v1()}"), send(f"t={T},v1={v1()}"), send(f"t={T},v1={v1(again)}", again)]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert list(ProcessorEvent.objects.values_list("event_id", "type")) == [("evt_1", "invoice.paid")]


@pytest.mark.django_db(transaction=True)
def test_ten_concurrent_copies_are_stored_once() -> None:
    header = f"t={T},v1={v1()}"

    assert in_threads(10, lambda _: send(header).status_code) == [200] * 10
    assert ProcessorEvent.objects.count() == 1


@pytest.mark.parametrize(
    "body", [b"{}", b'{"id": 1, "type": "a"}', b'{"id": "", "type": "a"}', b'{"id": "evt_1"}', b'{"any": ["thing"]}']
)
def test_a_signed_object_that_is_not_an_event_is_ignored(body: bytes) -> None:
    answer = send(f"t={T},v1={v1(body)}", body)

    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert not ProcessorEvent.objects.exists()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"text"', b'{"id": "a", "id": "b"}', b"\xff", b'{"a": NaN}'])
def test_a_signed_body_that_is_not_an_object_is_malformed(body: bytes) -> None:
    assert_envelope(send(f"t={T},v1={v1(body)}", body), 400, "MALFORMED_REQUEST")
    assert not ProcessorEvent.objects.exists()


def test_a_large_body_is_refused_without_reading_it() -> None:
    body = b'{"id": "' + b"x" * 1_000_000 + b'"}'

    assert_envelope(send(f"t={T},v1={v1(body)}", body), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "text/plain", "multipart/form-data; boundary=x"])
def test_the_content_type_is_ignored(content_type: str) -> None:
    assert send(f"t={T},v1={v1()}", content_type=content_type).status_code == 200


def test_without_a_signing_secret_events_are_refused(settings: Any) -> None:
    settings.STRIPE_WEBHOOK_SECRET = ""
    answer = send(f"t={T},v1={v1(secret='')}")

    assert_envelope(answer, 503, "BILLING_UNAVAILABLE")
    assert answer["retry-after"] == "3600"


def test_a_bearer_token_is_not_required_and_not_checked(workspace: Workspace, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 1
    tokens = [factories.workspace_key(workspace), "nonsense", "sps_key_" + "0" * 49]
    for token in tokens * 2:
        answer = send(f"t={T},v1={v1()}", authorization=f"Bearer {token}")
        assert answer.status_code == 200
        assert "ratelimit-limit" not in answer
    assert_envelope(send(None, authorization=f"Bearer {tokens[0]}"), 400, "SIGNATURE_INVALID")


def test_processor_events_are_not_in_the_audit_log() -> None:
    send(f"t={T},v1={v1()}")
    send(None)

    assert not AuditEntry.objects.exists()


def test_query_parameters_are_refused() -> None:
    answer = ApiClient().post(f"{PATH}?dry_run=true", BODY, processor_signature=f"t={T},v1={v1()}")

    assert_envelope(answer, 422, "VALIDATION_FAILED")
    assert not ProcessorEvent.objects.exists()


def test_the_openapi_document_allows_any_object_without_bearer_token() -> None:
    operation = described()["paths"][PATH]["post"]

    assert operation["security"] == []
    assert [(each["name"], each["in"], each["required"]) for each in operation["parameters"]] == [
        ("Processor-Signature", "header", True)
    ]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {"type": "object", "additionalProperties": {}}
    assert "ratelimit" not in json.dumps(operation["responses"]["200"]).lower()


def test_operators_see_an_event_without_its_payload(client: Client) -> None:
    send(f"t={T},v1={v1()}")
    client.force_login(User.objects.create_superuser("operator"))
    page = client.get("/admin/billing/processorevent/evt_1/change/").content.decode()

    assert "invoice.paid" in page
    assert "in_1" not in page
