"""Networks of API keys: allowed networks, and the first use from a new network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import ApiKey
from agents.networks import is_in_networks, network_of_key_use, normalize_network
from agents.serializers import ApiKeySerializer
from agents.services import issue_key
from agents.services.key_networks import MAX_SEEN_NETWORKS
from auditlog.models import AuditEntry
from config.api import rate_limit
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.in_threads import in_threads
from webhooks.models import Delivery, Event
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
OFFICE, HOME, ELSEWHERE = "203.0.113.7", "198.51.100.20", "2001:db8:1:2::3"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def call(token: str | None, address: str, **headers: str) -> Any:
    """Send a request from this IP address."""
    client = Client(headers={"authorization": f"Bearer {token}", **headers}, REMOTE_ADDR=address)
    return client.get("/capabilities")


def key_of(workspace: Workspace, *networks: str) -> Any:
    return issue_key(workspace_id=workspace.id, name="K", scopes=["posts.read"], allowed_networks=list(networks) or None)


def entries(operation: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(operation=operation).order_by("pk"))


@pytest.mark.parametrize(
    ("networks", "address", "allowed"),
    [
        (["203.0.113.0/24"], "203.0.113.0", True),
        (["203.0.113.0/24"], "203.0.113.255", True),
        (["203.0.113.0/24"], "203.0.114.0", False),
        (["203.0.113.0/24"], "::ffff:203.0.113.7", True),
        (["203.0.113.7/32"], "203.0.113.8", False),
        (["203.0.113.0/24"], "2001:db8::1", False),
        (["2001:db8::/32"], "2001:db8:ffff::1", True),
        (["2001:db8::/32"], "2001:db9::1", False),
        (["2001:db8::/32"], "203.0.113.7", False),
        (["0.0.0.0/0"], "198.51.100.1", True),
        (["0.0.0.0/0"], "2001:db8::1", False),
        (["198.51.100.0/24", "2001:db8::1/128"], "2001:db8::1", True),
    ],
)
def test_a_key_works_only_in_its_networks(workspace: Workspace, networks: list[str], address: str, allowed: bool) -> None:
    issued = key_of(workspace, *networks)
    answer = call(issued.token, address)

    assert answer.status_code == (200 if allowed else 403)
    if not allowed:
        body = assert_envelope(answer, 403, "FORBIDDEN")
        assert body["message"] == f"This API key may not be used from {address}."
        [entry] = entries("api_keys.use")
        assert (entry.outcome, entry.code, entry.ip) == ("refused", "FORBIDDEN", address)
        assert (entry.workspace_id, entry.actor_id) == (workspace.id, issued.api_key.id)
        assert ApiKey.objects.get().last_used_at is None


def test_the_address_is_the_one_behind_the_trusted_proxies(workspace: Workspace, settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    token = key_of(workspace, "203.0.113.0/24").token

    assert call(token, "10.0.0.1", x_forwarded_for=OFFICE).status_code == 200
    assert call(token, "10.0.0.1", x_forwarded_for=f"{OFFICE}, {HOME}").status_code == 403
    assert call(token, HOME, x_forwarded_for=OFFICE).status_code == 403


def test_an_unknown_address_is_in_no_network(workspace: Workspace) -> None:
    assert call(key_of(workspace).token, "").status_code == 200
    body = assert_envelope(call(key_of(workspace, "0.0.0.0/0").token, ""), 403, "FORBIDDEN")
    assert "an unknown address" in body["message"]


def test_expiry_and_revocation_are_checked_before_networks(workspace: Workspace) -> None:
    issued = key_of(workspace, "203.0.113.0/24")
    ApiKey.objects.update(revoked_at=NOON)

    assert_envelope(call(issued.token, HOME), 401, "API_KEY_REVOKED")


def test_refused_networks_do_not_fill_the_audit_log_or_use_the_rate_limit(workspace: Workspace, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 3
    rate_limit.rate_limiter_for_redis_url.cache_clear()
    token = key_of(workspace, "203.0.113.0/24").token

    assert [call(token, HOME).status_code for _ in range(6)] == [403] * 6
    assert len(entries("api_keys.use")) == 3
    assert call(token, OFFICE).status_code == 200


def test_each_network_after_the_first_is_reported_once(workspace: Workspace, clock: Any) -> None:
    issued = key_of(workspace)
    for minutes, address in enumerate([OFFICE, "203.0.113.99", HOME, HOME, ELSEWHERE, OFFICE, "2001:db8:1:ffff::9"]):
        clock.move_to(NOON + timedelta(minutes=minutes))
        assert call(issued.token, address).status_code == 200

    recorded = entries("api_keys.new_network")
    assert [(entry.metadata, entry.ip) for entry in recorded] == [
        ({"network": "198.51.100.0/24"}, HOME),
        ({"network": "2001:db8:1::/48"}, ELSEWHERE),
    ]
    assert {(entry.resource_id, entry.workspace_id, entry.actor_type) for entry in recorded} == {
        (issued.api_key.id, workspace.id, "api_key")
    }
    events = list(Event.objects.order_by("sequence"))
    assert [(event.subject_id, event.sequence, event.kind) for event in events] == [
        (issued.api_key.id, 1, "api_key.new_network"),
        (issued.api_key.id, 2, "api_key.new_network"),
    ]
    assert Delivery.objects.count() == 0
    key = ApiKey.objects.get()
    assert key.seen_networks == ["203.0.113.0/24", "198.51.100.0/24", "2001:db8:1::/48"]
    assert key.new_network_at == NOON + timedelta(minutes=4)


def test_the_new_network_event_contains_the_key_as_the_api_returns_it(workspace: Workspace, clock: Any) -> None:
    issued = key_of(workspace, OFFICE, HOME)
    call(issued.token, OFFICE)
    called = call(issued.token, HOME)

    payload = json.loads(bytes(Event.objects.get().payload))
    assert payload == {
        "id": payload["id"],
        "type": "api_key.new_network",
        "created_at": "2027-03-10T12:00:00Z",
        "workspace_id": workspace.id,
        "trace_id": called["x-trace-id"],
        "sandbox": False,
        "sequence": 1,
        "data": {"api_key": ApiKeySerializer(ApiKey.objects.get()).data, "network": "198.51.100.0/24"},
    }


def test_networks_of_agent_keys_are_recorded(workspace: Workspace) -> None:
    agent = factories.AgentFactory(workspace=workspace)
    token = factories.agent_key(agent)
    call(token, OFFICE)
    call(token, HOME)

    [entry] = entries("api_keys.new_network")
    assert (entry.actor_type, entry.actor_id) == ("agent", agent.id)


def test_only_the_latest_networks_are_stored(workspace: Workspace) -> None:
    token = key_of(workspace).token
    for number in range(MAX_SEEN_NETWORKS + 2):
        call(token, f"10.0.{number}.1")

    assert ApiKey.objects.get().seen_networks == [f"10.0.{number}.0/24" for number in range(2, MAX_SEEN_NETWORKS + 2)]
    call(token, "10.0.0.1")
    assert len(entries("api_keys.new_network")) == MAX_SEEN_NETWORKS + 2


def test_a_network_seen_before_needs_no_further_query(workspace: Workspace, clock: Any) -> None:
    token = key_of(workspace).token
    with CaptureQueriesContext(connection) as first:
        call(token, OFFICE)
    call(token, HOME)
    counts = []
    for seconds in (1, 59, 61):
        clock.move_to(NOON + timedelta(seconds=seconds))
        with CaptureQueriesContext(connection) as queries:
            assert call(token, OFFICE).status_code == 200
        counts.append(len([query for query in queries if "agents_apikey" in query["sql"]]))

    assert counts == [1, 1, 2]  # once a minute the use is noted
    assert len([query for query in first if "agents_apikey" in query["sql"]]) == 2  # the first network with the first use


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_from_a_new_network_report_it_once(workspace: Workspace) -> None:
    token = key_of(workspace).token
    assert [answer.status_code for answer in in_threads(4, lambda _: call(token, OFFICE))] == [200] * 4
    assert entries("api_keys.new_network") == []
    assert [answer.status_code for answer in in_threads(4, lambda _: call(token, HOME))] == [200] * 4

    assert len(entries("api_keys.new_network")) == 1
    assert ApiKey.objects.get().seen_networks == ["203.0.113.0/24", "198.51.100.0/24"]


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("203.0.113.0/24", "203.0.113.0/24"),
        ("203.0.113.7", "203.0.113.7/32"),
        ("2001:DB8:0:0::/32", "2001:db8::/32"),
        ("2001:db8::1", "2001:db8::1/128"),
        ("10.0.0.0/255.0.0.0", "10.0.0.0/8"),
        ("::/0", "::/0"),
    ],
)
def test_networks_are_stored_in_normal_form(text: str, network: str) -> None:
    assert normalize_network(text) == network


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("203.0.113.7/24", "write 203.0.113.0/24"),
        ("2001:db8::1/32", "write 2001:db8::/32"),
        ("203.0.113.0/33", "Must be a network"),
        ("203.0.113", "Must be a network"),
        ("010.0.0.0/8", "Must be a network"),
        ("office.example.com", "Must be a network"),
        ("::ffff:203.0.113.0/120", "Must be an IPv4 network"),
        ("fe80::1%eth0", "Must be an IPv4 network"),
        ("", "Must be a network"),
    ],
)
def test_an_invalid_network_is_explained(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        normalize_network(text)


def test_addresses_are_grouped_by_network() -> None:
    assert network_of_key_use("203.0.113.7") == network_of_key_use("::ffff:203.0.113.200") == "203.0.113.0/24"
    assert network_of_key_use("2001:db8:1:2::3") == network_of_key_use("2001:db8:1:ffff::") == "2001:db8:1::/48"
    assert network_of_key_use("fe80::1%eth0") == "fe80::/48"
    assert not is_in_networks(None, ["0.0.0.0/0", "::/0"])
