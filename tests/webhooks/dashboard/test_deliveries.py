"""The dashboard pages of webhook deliveries: list, detail, and replay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from tests.factories import WorkspaceFactory
from tests.fakes.http_server import Answer
from tests.fakes.receiver import Receiver
from tests.pages import Pages, form_of, has_form, words
from tests.webhooks.rows import emit, make_delivery
from tests.webhooks.sending import deliver_until_idle
from webhooks.models import Delivery, DeliveryStatus
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner, csrf=True)


@pytest.fixture
def arrived(workspace: Workspace, receiver: Receiver) -> Delivery:
    """A delivery that succeeded at its second attempt."""
    receiver.will_answer(Answer(503, b"come <again>"), 204)
    row = make_delivery(workspace, receiver.url)
    for _ in range(2):
        Delivery.objects.update(due_at=timezone.now())
        deliver_until_idle()
    row.refresh_from_db()
    assert row.status == DeliveryStatus.DELIVERED
    return row


def dead(workspace: Workspace, url: str = "https://hooks.example.com/dead") -> Delivery:
    row = make_delivery(workspace, url)
    Delivery.objects.filter(pk=row.pk).update(
        status=DeliveryStatus.DEAD_LETTER, due_at=None, attempts=8, last_status_code=500, last_error="It answered 500."
    )
    return row


def test_without_deliveries_the_page_explains_how_to_get_some(pages: Pages) -> None:
    page = pages.get("webhooks")

    assert "No deliveries yet" in words(page)
    assert f'href="{pages.address("webhook-test")}"' in page.content.decode()


def test_deliveries_are_filtered_by_state_and_post_and_paginated(pages: Pages, workspace: Workspace) -> None:
    lost = dead(workspace)
    waiting = make_delivery(workspace, "https://hooks.example.com/waiting")
    make_delivery(WorkspaceFactory.create(), "https://hooks.example.com/foreign")

    def shown(**query: str) -> list[bool]:
        text = words(pages.get("webhooks", query=query))
        assert "foreign" not in text
        return ["/dead" in text, "/waiting" in text]

    assert shown() == [True, True]
    assert shown(status="dead_letter") == [True, False]
    lost_post, waiting_post = str(lost.event.post_group_id), str(waiting.event.post_group_id)
    assert shown(post=waiting_post) == [False, True]
    assert shown(post=waiting_post, status="dead_letter") == [False, False]
    assert "Given up" in words(pages.get("webhooks", query={"post": lost_post}))
    assert "begin with pgr_" in words(pages.get("webhooks", query={"post": "x"}))
    assert pages.get("webhooks", query={"cursor": "x"}).status_code == 422

    for _ in range(49):
        make_delivery(workspace, "https://hooks.example.com/more")
    first = pages.get("webhooks")
    further = first.content.decode().partition('href="?cursor=')[2].partition('"')[0]
    assert "/dead" not in words(first)
    assert "/dead" in words(pages.get("webhooks", query={"cursor": further}))


def test_a_page_reloads_itself_only_while_attempts_are_due(pages: Pages, workspace: Workspace) -> None:
    row = make_delivery(workspace, "https://hooks.example.com/soon")
    group = str(row.event.post_group_id)

    def looks_again(**query: str) -> bool:
        return "hx-trigger" in pages.get("webhooks", query=query).content.decode()

    assert looks_again()
    Delivery.objects.update(due_at=timezone.now() + timedelta(hours=1), status="retrying")
    assert not looks_again()
    assert not looks_again(post=group, status="delivered")
    assert looks_again(post=group, status="delivered", wait="1")


def test_a_delivery_page_shows_the_request_and_the_response(pages: Pages, arrived: Delivery, receiver: Receiver) -> None:
    page = pages.get("delivery", delivery_id=arrived.id)
    shown, sent = words(page), receiver.requests[-1]

    assert "post.published Delivered" in shown
    assert "Attempts 2" in shown
    assert "Last response 204" in shown
    assert '"text": "Grüße 🎈"' in shown
    assert arrived.event.trace_id in shown
    for name in ("content-type", "x-service-event", "x-service-delivery-id", "user-agent"):
        assert f"{name} {sent.headers[name]}" in shown
    assert "x-service-signature t=<unix seconds of the attempt>,v1=" in shown
    assert sent.headers["x-service-signature"] not in shown


def test_a_failure_is_shown_with_the_receivers_response(pages: Pages, workspace: Workspace, receiver: Receiver) -> None:
    receiver.will_answer(Answer(503, b"come <again>"))
    row = make_delivery(workspace, receiver.url)
    deliver_until_idle()

    shown = words(pages.get("delivery", delivery_id=row.id))

    assert "The receiver answered 503." in shown
    assert "It is retried automatically." in shown
    assert "come <again>" in shown


def test_a_long_payload_is_cut(pages: Pages, workspace: Workspace) -> None:
    event = emit(workspace, "https://hooks.example.com/x", data={"post_group": {"text": "long " * 40_000}})

    page = pages.get("delivery", delivery_id=event.deliveries.get().id)

    assert "The rest is not shown." in words(page)
    assert len(page.content) < 100_000


def test_a_delivery_is_replayed_once_however_often_the_form_is_submitted(
    pages: Pages, arrived: Delivery, receiver: Receiver
) -> None:
    named: Any = {"delivery_id": arrived.id}
    form = form_of(pages.get("delivery", **named), pages.address("delivery-replay", **named))
    before = len(receiver.requests)

    for _ in range(2):
        assert "The delivery is being sent again." in words(pages.post("delivery-replay", form, follow=True, **named))
        deliver_until_idle()

    assert len(receiver.requests) == before + 1
    assert receiver.requests[-1].body == receiver.requests[0].body
    assert AuditEntry.objects.filter(operation="webhooks.replay", actor_type="user").count() == 1


def test_a_delivery_in_flight_has_no_replay_button_and_is_not_replayed(pages: Pages, workspace: Workspace) -> None:
    row = dead(workspace)
    named: Any = {"delivery_id": row.id}
    form = form_of(pages.get("delivery", **named), pages.address("delivery-replay", **named))
    Delivery.objects.update(lease_until=timezone.now() + timedelta(minutes=1))

    assert not has_form(pages.get("delivery", **named), pages.address("delivery-replay", **named))
    assert "An attempt of this delivery is in flight." in words(pages.post("delivery-replay", form, follow=True, **named))
    row.refresh_from_db()
    assert row.status == DeliveryStatus.DEAD_LETTER


def test_members_may_read_and_not_replay(workspace: Workspace, teammate: User) -> None:
    row = dead(workspace)
    theirs = Pages(workspace, teammate)
    named: Any = {"delivery_id": row.id}

    page = theirs.get("delivery", **named)
    assert page.status_code == 200
    assert not has_form(page, theirs.address("delivery-replay", **named))
    theirs.post("delivery-replay", {"key": "k"}, **named)

    row.refresh_from_db()
    assert row.status == DeliveryStatus.DEAD_LETTER
    assert AuditEntry.objects.get(operation="webhooks.replay").code == "FORBIDDEN"


def test_a_delivery_of_another_workspace_is_not_found(
    pages: Pages, workspace: Workspace, owner: User, stranger: User
) -> None:
    mine, foreign = dead(workspace), dead(WorkspaceFactory.create(owner_user=owner))

    assert pages.get("delivery", delivery_id=foreign.id).status_code == 404
    assert pages.get("delivery", delivery_id="dlv_x").status_code == 404
    assert Pages(workspace, stranger).get("delivery", delivery_id=mine.id).status_code == 404
    assert Pages(workspace, None).get("delivery", delivery_id=mine.id).status_code == 302
    assert pages.post("delivery-replay", {"key": "k"}, delivery_id=mine.id).status_code == 403  # without its token


def test_the_page_takes_few_queries_and_reads_no_payloads(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(20):
        make_delivery(workspace, "https://hooks.example.com/x")

    with django_assert_max_num_queries(12) as queries:
        pages.get("webhooks")

    assert not any('"payload"' in query["sql"] for query in queries.captured_queries)
