"""How long a request waits for the DNS lookups of its webhook URLs."""

from __future__ import annotations

import threading

import pytest

from config.api import webhook_url
from config.api.caller import system_caller
from config.api.errors import WebhookUrlNotAllowed
from config.api.webhook_url import check_webhook_hosts
from config.outbound import resolver
from tests.conftest import ServeNames
from tests.fakes.name_server import Records, silent

LONG = 30.0
PUBLIC = "93.184.215.14"


def test_a_private_host_is_refused(name_server: ServeNames) -> None:
    name_server(lambda name: Records(["10.0.0.1"]))

    with pytest.raises(WebhookUrlNotAllowed, match="an address that is not public"):
        check_webhook_hosts(["https://hooks.example.com/"], system_caller("wrk_a"))


def test_a_workspace_waits_for_silent_name_servers_in_one_thread_at_a_time(
    name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_url, "LOOKUP_SECONDS", LONG)
    monkeypatch.setattr(resolver, "FIRST_TRY_SECONDS", LONG)
    server = name_server(lambda name: Records([PUBLIC]), together=3)
    caller = system_caller("wrk_a")
    first = threading.Thread(target=check_webhook_hosts, args=(["https://one.example.com/"], caller))
    first.start()
    server.wait_for(1)

    check_webhook_hosts(["https://two.example.com/"], caller)
    assert first.is_alive(), "the second request went on while the first still waits"

    check_webhook_hosts(["https://three.example.com/"], system_caller("wrk_b"))
    first.join()
    assert set(server.lookups) == {"one.example.com", "two.example.com", "three.example.com"}


def test_the_lookup_thread_is_released(name_server: ServeNames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_url, "LOOKUP_SECONDS", 0.01)
    name_server(silent)

    check_webhook_hosts(["https://hooks.example.com/"], system_caller("wrk_a"))
    with pytest.raises(WebhookUrlNotAllowed):
        check_webhook_hosts(["https://10.0.0.1/"], system_caller("wrk_a"))

    assert webhook_url.dns_lookup_thread_limit.try_acquire_thread("wrk_a")
    webhook_url.dns_lookup_thread_limit.release_thread("wrk_a")
