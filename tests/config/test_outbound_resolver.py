"""The DNS resolver, with a name server on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from config.outbound import DestinationNotAllowed, NotSent, NotSentToForbiddenHost, check_urls_with_lookup, request, resolver
from config.outbound.async_client import create_session, post
from config.outbound.errors import DestinationUnresolved
from config.outbound.resolver import Resolver, webhook_resolver
from tests.config.outbound_servers import Dials
from tests.conftest import ServeNames
from tests.fakes.name_server import Records, silent

PUBLIC, OTHER_PUBLIC = "93.184.215.14", "93.184.215.15"
LONG = 30.0  # seconds; no test waits for it


def found(host: str) -> list[str]:
    return Resolver().look_up(host, seconds=LONG)


def test_a_name_has_the_addresses_of_both_families(name_server: ServeNames) -> None:
    server = name_server(lambda name: Records([PUBLIC, "2606:4700::1"]))

    assert sorted(found("hooks.example.com")) == ["2606:4700::1", PUBLIC]
    assert server.lookups == ["hooks.example.com"]


def test_a_name_that_does_not_exist_is_unresolved(name_server: ServeNames) -> None:
    server = name_server(lambda name: Records())

    with pytest.raises(DestinationUnresolved, match=r"hooks\.example\.com does not resolve\."):
        found("hooks.example.com")
    assert set(server.lookups) == {"hooks.example.com"}, "no search domain was appended"


@pytest.mark.parametrize("host", ["a" * 64 + ".example.com", "a..example.com"])
def test_a_name_that_cannot_be_in_the_dns_is_unresolved(name_server: ServeNames, host: str) -> None:
    server = name_server(lambda name: Records([PUBLIC]))

    with pytest.raises(DestinationUnresolved):
        found(host)
    assert server.lookups == []


def test_search_domains_and_ndots_of_the_system_do_not_apply(
    name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALDOMAIN", "corp.example")
    monkeypatch.setenv("RES_OPTIONS", "ndots:5")
    server = name_server(lambda name: Records([PUBLIC]) if name.endswith(".corp.example") else Records())

    with pytest.raises(DestinationUnresolved):
        found("hooks.example.com")
    assert set(server.lookups) == {"hooks.example.com"}


def test_localhost_resolves_without_a_name_server() -> None:
    assert set(found("localhost")) <= {"127.0.0.1", "::1"}


def test_the_hosts_file_of_the_system_applies() -> None:
    lines = [line.partition("#")[0].split() for line in Path("/etc/hosts").read_text().splitlines()]
    entries = [(words[0], words[1]) for words in lines if len(words) > 1 and "localhost" not in words[1]]
    if not entries:
        pytest.skip("The hosts file of this machine names nothing but localhost.")
    address, name = entries[0]

    assert address in found(name)


def test_an_unreachable_name_server_fails_at_once() -> None:
    with pytest.raises(DestinationUnresolved, match="does not resolve"):
        found("hooks.example.com")


def test_a_silent_name_server_is_given_up_after_the_time_out(name_server: ServeNames) -> None:
    name_server(silent)

    with pytest.raises(DestinationUnresolved, match="in time"):
        Resolver().look_up("hooks.example.com", seconds=0.01)


def test_an_answer_after_the_cancellation_is_ignored(name_server: ServeNames) -> None:
    server = name_server(silent)
    names = Resolver()
    given_up = names.start_lookup("slow.example.com")
    server.wait_for(1)
    assert given_up.cancel()
    server.zone = lambda name: Records([PUBLIC])

    assert names.look_up("quick.example.com", seconds=LONG) == [PUBLIC]


def test_many_waiting_lookups_do_not_delay_others(name_server: ServeNames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "FIRST_TRY_SECONDS", LONG)
    server = name_server(lambda name: Records([PUBLIC]) if name == "quick.example.com" else None)
    names = Resolver()
    waiting = [names.start_lookup(f"silent-{number}.example.com") for number in range(500)]
    server.wait_for(500)

    assert names.look_up("quick.example.com", seconds=LONG) == [PUBLIC]
    assert not any(lookup.done() for lookup in waiting)


def test_a_replaced_channel_still_answers_its_lookups(name_server: ServeNames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "LOOKUPS_PER_CHANNEL", 2)
    name_server(lambda name: Records([PUBLIC]))
    names = Resolver()
    lookups = [names.start_lookup(f"host-{number}.example.com") for number in range(7)]

    assert [lookup.result(LONG) for lookup in lookups] == [[PUBLIC]] * 7


def test_each_name_is_resolved_once_and_all_concurrently(name_server: ServeNames) -> None:
    server = name_server(lambda name: Records([PUBLIC]), together=20)

    check_urls_with_lookup(
        [f"https://host-{number}.example.com/{path}" for number in range(20) for path in "ab"], seconds=LONG
    )

    assert len(server.lookups) == 20


def test_names_that_do_not_resolve_in_time_are_accepted(name_server: ServeNames) -> None:
    server = name_server(silent)

    check_urls_with_lookup([f"https://silent-{number}.example.com/" for number in range(20)], seconds=0.01)

    server.wait_for(20)


def test_one_private_name_among_many_is_refused(name_server: ServeNames) -> None:
    name_server(lambda name: Records(["10.0.0.1"]) if name.startswith("inside") else Records([PUBLIC]))

    with pytest.raises(DestinationNotAllowed, match="an address that is not public"):
        check_urls_with_lookup(["https://outside.example.com/", "https://inside.example.com/"], seconds=LONG)


def test_an_alias_of_a_private_address_is_refused(name_server: ServeNames, monkeypatch: pytest.MonkeyPatch) -> None:
    name_server(lambda name: Records(["10.0.0.1"], alias="db.corp.example"))
    dials = Dials(monkeypatch)

    with pytest.raises(DestinationNotAllowed):
        check_urls_with_lookup(["https://hooks.example.com/"], seconds=LONG)
    with pytest.raises(NotSentToForbiddenHost):
        request("GET", "https://hooks.example.com/")
    assert dials.addresses == []


def test_an_address_that_changes_after_the_check_is_not_connected_to(
    name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([Records([PUBLIC]), Records([OTHER_PUBLIC]), Records(["127.0.0.1"])])
    server = name_server(lambda name: next(answers))
    dials = Dials(monkeypatch)
    url = "https://rebinding.example.com/"

    async def deliver() -> None:
        async with create_session(connections=1) as session:
            await post(session, url, body=b"{}", headers={}, timeout=LONG)

    check_urls_with_lookup([url], seconds=LONG)
    with pytest.raises(NotSent):
        asyncio.run(deliver())
    with pytest.raises(NotSentToForbiddenHost):
        asyncio.run(deliver())
    assert dials.addresses == [OTHER_PUBLIC], "what the delivery itself looked up and checked, once"
    assert server.lookups == ["rebinding.example.com"] * 3


def test_hanging_webhook_lookups_do_not_delay_those_of_platforms(
    name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = name_server(lambda name: Records([PUBLIC]) if name == "api.example.com" else None)
    dials = Dials(monkeypatch)
    monkeypatch.setattr(resolver, "FIRST_TRY_SECONDS", LONG)
    hanging = [webhook_resolver.start_lookup(f"silent-{number}.example.com") for number in range(1000)]
    server.wait_for(1000)

    with pytest.raises(NotSent):
        request("GET", "https://api.example.com/")
    assert dials.addresses == [PUBLIC]
    assert not any(lookup.done() for lookup in hanging)
