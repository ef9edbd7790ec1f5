"""Fair sharing of the sender's slots among workspaces, domains and hosts."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from config.jobs.fair_shares import MAX_QUICK_HOLDERS, QUICK_SECONDS
from webhooks.host_shares import (
    ALL,
    ATTEMPT_SLOT_LIMITS,
    HOST_LIMITS,
    MAX_UNANSWERED,
    MIN_SLOTS,
    SENDER_LIMITS,
    SILENT,
    SILENT_AFTER_ATTEMPTS,
    SLOW,
    HostShares,
    registrable_domain,
)
from webhooks.sender import MAX_IN_FLIGHT


def at(host: str, workspace: str = "wrk_a") -> str:
    return f"{workspace} {host}:443"


def alone(count: int, name: str = "host", workspace: str = "wrk_a") -> list[str]:
    """Return this number of hosts on different domains."""
    return [at(f"hooks.{name}-{number}.com", workspace) for number in range(count)]


def quick(*holders: str) -> HostShares:
    """Return shares in which these holders have answered quickly."""
    shares = HostShares()
    for holder in holders:
        shares.try_take_job_slot(holder)
        shares.record_attempt_end(holder, 0.1, silent=False)
    return shares


def silent(*holders: str, times: int = SILENT_AFTER_ATTEMPTS) -> HostShares:
    """Return shares in which these holders left this number of consecutive attempts unanswered."""
    shares = HostShares()
    for holder in holders:
        for _ in range(times):
            assert shares.try_take_job_slot(holder)
            shares.record_attempt_end(holder, QUICK_SECONDS + 8, silent=True)
    return shares


def takes(shares: HostShares, *holders: str) -> int:
    """Return the number of slots that the holders get when each in turn takes as many as it can."""
    taken = 0
    for holder in holders:
        while taken < MAX_IN_FLIGHT and shares.try_take_job_slot(holder):
            taken += 1
    return taken


def test_a_new_holder_gets_the_share_of_a_slow_one() -> None:
    shares = HostShares()

    assert takes(shares, at("a.com")) == ATTEMPT_SLOT_LIMITS.slow
    assert shares.senders_and_hosts_to_skip_for_slow_hosts().holders == {at("a.com")}


def test_a_holder_that_answered_quickly_gets_more() -> None:
    shares = quick(at("a.com"))

    assert shares.claimable_slots_by_quick_holder() == {at("a.com"): ATTEMPT_SLOT_LIMITS.quick}
    assert takes(shares, at("a.com")) == ATTEMPT_SLOT_LIMITS.quick
    assert shares.claimable_slots_by_quick_holder() == {}


def test_a_full_holder_is_offered_again_when_a_quarter_of_its_slots_is_free() -> None:
    shares, quarter = quick(at("a.com")), ATTEMPT_SLOT_LIMITS.quick // 4
    takes(shares, at("a.com"))
    offered = []
    for _ in range(quarter):
        shares.record_attempt_end(at("a.com"), 0.1, silent=False)
        offered.append(shares.claimable_slots_by_quick_holder())

    assert offered == [{}] * (quarter - 1) + [{at("a.com"): quarter}]


@pytest.mark.parametrize("seconds", [QUICK_SECONDS, QUICK_SECONDS + 0.1])
def test_a_holder_that_turned_slow_loses_its_share(seconds: float) -> None:
    shares = quick(at("a.com"))
    shares.try_take_job_slot(at("a.com"))
    shares.record_attempt_end(at("a.com"), seconds, silent=False)

    assert takes(shares, at("a.com")) == ATTEMPT_SLOT_LIMITS.slow


def test_slow_holders_together_leave_half_of_the_slots() -> None:
    shares = HostShares()
    for number in range(100):
        takes(shares, *alone(200, f"slow-{number}", f"wrk_{number}"))

    assert shares.free_slow_job_slots == 0
    assert shares.free_job_slots_of_worker == MAX_IN_FLIGHT - ATTEMPT_SLOT_LIMITS.slow_together


def test_no_more_slots_are_offered_to_slow_holders_than_there_are() -> None:
    holders = [holder for number in range(100) for holder in alone(9, f"quick-{number}", f"wrk_{number}")]
    shares = quick(*holders)
    takes(shares, *holders)

    assert (shares.free_job_slots_of_worker, shares.free_slow_job_slots) == (0, 0)


def test_a_place_that_is_released_is_free_again() -> None:
    shares = HostShares()
    takes(shares, at("a.com"))
    shares.record_attempt_end(at("a.com"), QUICK_SECONDS + 0.1, silent=False)

    assert shares.has_free_slot(at("a.com"))
    assert shares.free_job_slots_of_worker == MAX_IN_FLIGHT - ATTEMPT_SLOT_LIMITS.slow + 1


def test_the_memory_of_quick_holders_is_bounded() -> None:
    holders = alone(MAX_QUICK_HOLDERS + 1)

    assert quick(*holders).claimable_slots_by_quick_holder() == {holders[-1]: ATTEMPT_SLOT_LIMITS.quick}


def test_one_workspace_gets_half_of_the_slots_of_slow_holders() -> None:
    shares = HostShares()

    assert takes(shares, *alone(2500, "silent")) == SENDER_LIMITS[SLOW] // 2
    assert shares.senders_and_hosts_to_skip_for_slow_hosts().workspaces == {"wrk_a"}
    assert takes(shares, at("new.com", "wrk_b")) == ATTEMPT_SLOT_LIMITS.slow


def test_one_workspace_gets_half_of_all_slots() -> None:
    shares = quick(*alone(20), at("new.com", "wrk_b"))

    assert takes(shares, *alone(20)) == SENDER_LIMITS[ALL] // 2
    assert takes(shares, at("new.com", "wrk_b")) == ATTEMPT_SLOT_LIMITS.quick


def test_workspaces_that_all_want_more_get_equal_parts() -> None:
    shares = HostShares()
    everybody = [alone(70, name, f"wrk_{name}") for name in ("a", "b", "c")]
    shares_of: dict[str, list[str]] = {}
    for _ in range(150):  # attempts end where most are in flight, and everybody asks for the free slot
        for holders in everybody:
            name = holders[0].partition(" ")[0]
            shares_of.setdefault(name, []).extend(_taken(shares, holders))
        longest = max(shares_of.values(), key=len)
        shares.record_attempt_end(longest.pop(), QUICK_SECONDS + 1, silent=False)

    assert {len(held) for held in shares_of.values()} <= {SENDER_LIMITS[SLOW] // 4 - 1, SENDER_LIMITS[SLOW] // 4}


def _taken(shares: HostShares, holders: Iterable[str]) -> list[str]:
    return [holder for holder in holders if shares.try_take_job_slot(holder)]


def test_many_names_of_one_domain_share_its_part_whatever_their_workspaces() -> None:
    shares = HostShares()
    names = [at(f"h{number}.silent.co.uk", f"wrk_{number}") for number in range(300)]

    assert takes(shares, *names) == SENDER_LIMITS[SLOW] // 2
    assert shares.senders_and_hosts_to_skip_for_slow_hosts().domains == {"silent.co.uk"}
    assert takes(shares, at("other.co.uk", "wrk_new")) == ATTEMPT_SLOT_LIMITS.slow


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a.example.com", "b.example.com"),
        ("a.example.co.uk", "b.c.example.co.uk"),
        ("x.app.herokuapp.com", "app.herokuapp.com"),
    ],
)
def test_names_below_one_registered_domain_share_it(first: str, second: str) -> None:
    assert registrable_domain(first) == registrable_domain(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a.example.com", "b.example.org"),
        ("one.co.uk", "two.co.uk"),
        ("one.herokuapp.com", "two.herokuapp.com"),
        ("10.0.0.1", "11.0.0.1"),
        ("2606:4700::1", "2606:4700::2"),
        ("localhost", "example.com"),
    ],
)
def test_different_registered_domains_are_separate(first: str, second: str) -> None:
    assert registrable_domain(first) != registrable_domain(second)


def test_workspaces_with_hanging_deliveries_leave_free_slots_at_the_host() -> None:
    hanging = [at("hooks.example.com", f"wrk_{number}") for number in range(100)]
    shares = quick(at("hooks.example.com", "wrk_quick"))

    assert takes(shares, *hanging) == HOST_LIMITS[SLOW]
    assert shares.senders_and_hosts_to_skip_for_slow_hosts().hosts == {"hooks.example.com:443"}
    assert takes(shares, at("hooks.example.com", "wrk_quick")) >= (HOST_LIMITS[ALL] - HOST_LIMITS[SLOW]) // 2


def test_a_place_that_becomes_free_at_a_full_host_goes_to_a_newcomer() -> None:
    hanging = [at("hooks.example.com", f"wrk_{number}") for number in range(100)]
    shares = HostShares()
    takes(shares, *hanging)
    shares.record_attempt_end(hanging[0], QUICK_SECONDS + 1, silent=False)

    assert not shares.try_take_job_slot(hanging[1])
    assert shares.try_take_job_slot(at("hooks.example.com", "wrk_new"))


def test_one_quick_workspace_takes_at_most_half_of_a_host() -> None:
    everybody = [at("hooks.example.com", f"wrk_{number}") for number in range(4)]
    shares = quick(*everybody)

    assert [takes(shares, holder) for holder in everybody] == [32, 16, 8, 4]


def test_silent_workspaces_at_a_host_leave_slots_for_slow_ones() -> None:
    dead = [at("hooks.example.com", f"wrk_{number}") for number in range(20)]
    shares = silent(*dead)
    assert takes(shares, *dead) == HOST_LIMITS[SILENT]
    assert set(dead) <= shares.senders_and_hosts_to_skip_for_slow_hosts().holders
    assert takes(shares, at("hooks.example.com", "wrk_new")) == ATTEMPT_SLOT_LIMITS.slow


def test_dead_hosts_leave_slots_for_a_new_one() -> None:
    dead = alone(MAX_IN_FLIGHT)
    shares = silent(*dead)

    assert takes(shares, *dead) == SENDER_LIMITS[SILENT] // 2
    assert set(dead) <= shares.senders_and_hosts_to_skip_for_slow_hosts().holders
    assert takes(shares, at("new.com")) == ATTEMPT_SLOT_LIMITS.slow


def test_attempts_without_an_answer_leave_their_slots_to_a_new_host_of_the_workspace() -> None:
    shares, dead = HostShares(), alone(MAX_IN_FLIGHT)
    begun = [holder for holder in dead if shares.try_take_job_slot(holder)]
    assert not shares.try_take_job_slot(at("new.com"))

    for holder in begun:
        shares.count_running_attempt_as_slow(holder)
    assert takes(shares, at("new.com")) == ATTEMPT_SLOT_LIMITS.slow

    for holder in begun:
        shares.record_attempt_end(holder, QUICK_SECONDS + 8, silent=True, after_long_wait=True)
    assert shares.running_job_count == ATTEMPT_SLOT_LIMITS.slow


def test_attempts_without_an_answer_leave_slots_for_quick_hosts() -> None:
    shares = HostShares()
    for holder in (holder for number in range(100) for holder in alone(20, f"dead-{number}", f"wrk_{number}")):
        while shares.free_slow_job_slots > 0 and shares.try_take_job_slot(holder):
            shares.count_running_attempt_as_slow(holder)

    assert shares.free_slow_job_slots == 0
    assert shares.running_job_count == MAX_UNANSWERED


def test_a_host_that_answers_again_is_no_longer_silent() -> None:
    dead = alone(MAX_IN_FLIGHT)
    shares = silent(*dead)
    assert shares.try_take_job_slot(dead[0])
    shares.record_attempt_end(dead[0], QUICK_SECONDS + 8, silent=False)
    takes(shares, *dead[1:])

    assert takes(shares, dead[0]) == ATTEMPT_SLOT_LIMITS.slow


def test_a_few_unanswered_attempts_do_not_make_a_host_silent() -> None:
    hosts = alone(MAX_IN_FLIGHT // 2)

    assert takes(silent(*hosts, times=SILENT_AFTER_ATTEMPTS - 1), *hosts) == SENDER_LIMITS[SLOW] // 2


def test_few_domains_are_full_at_a_time() -> None:
    shares = HostShares()
    for number in range(100):
        takes(shares, *[at(f"{letter}.host-{number}.com", f"wrk_{number}") for letter in "abcdefgh"])

    assert len(shares.senders_and_hosts_to_skip_for_slow_hosts().domains) <= SENDER_LIMITS[SLOW] // MIN_SLOTS


def test_no_more_is_claimed_for_quick_holders_than_their_workspace_may_begin() -> None:
    holders = alone(20)
    shares = quick(*holders)
    takes(shares, *holders[:7])

    free_slots = shares.claimable_slots_by_quick_holder()
    assert (
        sum(free_slots.values())
        > shares.max_new_attempts_to_quick_hosts(free_slots)
        == SENDER_LIMITS[ALL] // 2 - 7 * ATTEMPT_SLOT_LIMITS.quick
    )
