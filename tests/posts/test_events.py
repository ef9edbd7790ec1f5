"""Events of post groups: their kinds, order, content and receivers."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from config.jobs.claims import claim_due
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.fakes.receiver import Receiver
from tests.in_threads import in_threads
from tests.posts.publishing.worker import publish_claimed, run_until_idle
from tests.posts.rows import TOMORROW, create, events_of, kinds_of, publish_rounds, read
from tests.webhooks.sending import deliver_until_idle
from webhooks.models import Delivery
from workspaces.models import Workspace

AGENT_URL, OWN_URL = "https://hooks.example.com/agent", "https://hooks.example.com/own"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Hello", ["post.published"]),
        ("[sandbox:reject]", ["post.failed"]),
        ("[sandbox:unknown]", ["post.unconfirmed"]),
        ("[sandbox:reauth]", ["post.failed"]),
        ("[sandbox:flaky]", ["post.published"]),
        ("[sandbox:outage]", ["post.failed"]),
        ("[sandbox:slow]", ["post.published"]),
    ],
)
def test_a_group_with_one_target_emits_one_outcome_event(
    api: ApiClient, account: ConnectedAccount, clock: Any, text: str, kinds: list[str]
) -> None:
    group = create(api, account, text=text)
    assert kinds_of(group) == []

    publish_rounds(clock)

    assert kinds_of(group) == kinds


@pytest.mark.parametrize(
    ("texts", "group_kind"),
    [
        (["Hello", "Hello", "Hello"], "post.published"),
        (["[sandbox:reject]", "[sandbox:reject]", "[sandbox:reject]"], "post.failed"),
        (["Hello", "[sandbox:reject]", "Hello"], "post.partial"),
        (["Hello", "[sandbox:reject]", "[sandbox:unknown]"], "post.unconfirmed"),
    ],
)
def test_target_events_precede_the_event_of_their_group(
    api: ApiClient, accounts: list[ConnectedAccount], texts: list[str], group_kind: str
) -> None:
    group = create(api, *accounts, texts=texts)
    run_until_idle()

    events = events_of(group)

    ended = read(api, group)
    expected = {each["id"]: f"post.target.{each['status']}" for each in ended["targets"]}
    assert {event["data"]["target_id"]: event["type"] for event in events[:-1]} == expected
    assert events[-1]["type"] == group_kind
    assert "target_id" not in events[-1]["data"]
    assert [event["sequence"] for event in events] == [1, 2, 3, 4]


def test_an_event_contains_the_group_at_that_time(api: ApiClient, accounts: list[ConnectedAccount], clock: Any) -> None:
    group = create(api, *accounts[:2], texts=["Hello", "[sandbox:flaky]"], scheduled_at=TOMORROW)
    publish_rounds(clock)

    scheduled, first, second, last = events_of(group)

    assert scheduled["type"] == "post.scheduled"
    assert scheduled["data"] == {"post_group": group}
    assert first["data"]["target_id"] == group["targets"][0]["id"]
    assert first["data"]["post_group"]["status"] == "publishing"
    assert first["data"]["post_group"]["targets"][0]["status"] == "published"
    assert second["data"]["post_group"]["status"] == "published"
    assert last["data"] == {"post_group": read(api, group)}
    assert {event["trace_id"] for event in events_of(group)} == {group["trace_id"]}
    assert {event["sandbox"] for event in events_of(group)} == {True}
    assert {event["workspace_id"] for event in events_of(group)} == {group["workspace_id"]}


@pytest.mark.django_db(transaction=True)
def test_targets_that_finish_together_emit_events_in_sequence(api: ApiClient, workspace: Workspace) -> None:
    group = create(api, *AccountFactory.create_batch(8, workspace=workspace))
    claimed = claim_due(PostTarget.objects.all(), limit=8, lease=LEASE)

    in_threads(8, lambda n: publish_claimed(claimed[n]))

    assert kinds_of(group) == ["post.target.published"] * 8 + ["post.published"]
    assert [event["sequence"] for event in events_of(group)] == list(range(1, 10))
    shown = [event["data"]["post_group"] for event in events_of(group)]
    out = [sum(target["status"] == "published" for target in each["targets"]) for each in shown]
    assert (out, out[-1]) == (sorted(out), 8)
    assert all(count > number for number, count in enumerate(out[:8]))


def test_the_sequence_continues_after_a_retry(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    group = create(api, account, text="[sandbox:reject]")
    run_until_idle()
    api.post(f"/posts/{group['id']}/retry", {"scheduled_at": TOMORROW})
    publish_rounds(clock)

    assert [(event["sequence"], event["type"]) for event in events_of(group)] == [
        (1, "post.failed"),
        (2, "post.scheduled"),
        (3, "post.failed"),
    ]


@pytest.mark.parametrize(
    ("agent_url", "own_url", "expected_url"),
    [(AGENT_URL, None, AGENT_URL), (AGENT_URL, OWN_URL, OWN_URL), (None, OWN_URL, OWN_URL), (None, None, None)],
)
def test_events_go_to_the_groups_webhook_url_or_the_agents(
    agent_client: Any,
    account: ConnectedAccount,
    clock: Any,
    agent_url: str | None,
    own_url: str | None,
    expected_url: str | None,
) -> None:
    fields = {"webhook_url": own_url} if own_url else {}
    group = create(agent_client(webhook_url=agent_url), account, scheduled_at=TOMORROW, **fields)

    assert group["webhook_url"] == own_url
    assert list(Delivery.objects.values_list("url", flat=True)) == ([expected_url] if expected_url else [])


def test_events_of_a_group_without_webhook_url_are_stored(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account)
    run_until_idle()

    assert kinds_of(group) == ["post.published"]
    assert not Delivery.objects.exists()


def test_the_receiver_gets_the_emitted_payload(api: ApiClient, account: ConnectedAccount) -> None:
    with Receiver() as receiver:
        group = create(api, account, webhook_url=receiver.url)
        run_until_idle()
        assert deliver_until_idle() == 1

        assert [request.json() for request in receiver.requests] == events_of(group)
        assert receiver.requests[0].headers["x-service-event"] == "post.published"
