"""How the sender's places are shared out among hosts."""

from __future__ import annotations

from config.db.fair_shares import QUICK_SECONDS, REMEMBERED
from webhooks.host_shares import SHARES, SILENCES, SILENT_TOGETHER, HostShares
from webhooks.sender import IN_FLIGHT


def quick(*hosts: str) -> HostShares:
    """Shares in which these hosts have answered quickly."""
    shares = HostShares()
    for host in hosts:
        shares.take(host)
        shares.ended(host, 0.1, silent=False)
    return shares


def takes(shares: HostShares, host: str) -> int:
    """How many places the host gets when it asks for all of them, until it gets no more."""
    taken = 0
    while taken < IN_FLIGHT and shares.take(host):
        taken += 1
    return taken


def test_a_new_host_gets_the_share_of_a_slow_one() -> None:
    shares = HostShares()

    assert takes(shares, "a") == SHARES.slow
    assert shares.left_out() == {"a"}


def test_a_host_that_answered_quickly_gets_more() -> None:
    shares = quick("a")

    assert shares.room_at_quick() == {"a": SHARES.quick}
    assert takes(shares, "a") == SHARES.quick
    assert shares.room_at_quick() == {}


def test_a_full_host_is_offered_again_when_a_quarter_of_its_places_is_free() -> None:
    shares, quarter = quick("a"), SHARES.quick // 4
    takes(shares, "a")
    offered = []
    for _ in range(quarter):
        shares.ended("a", 0.1, silent=False)
        offered.append(shares.room_at_quick())

    assert offered == [{}] * (quarter - 1) + [{"a": quarter}]


def test_a_host_that_turned_slow_loses_its_share() -> None:
    shares = quick("a")
    shares.take("a")
    shares.ended("a", QUICK_SECONDS + 0.1, silent=False)

    assert takes(shares, "a") == SHARES.slow


def test_slow_hosts_together_leave_half_of_the_places() -> None:
    shares = HostShares()
    for number in range(SHARES.slow_together // SHARES.slow):
        takes(shares, f"dead-{number}")

    assert shares.places_for_slow == 0
    assert shares.places == IN_FLIGHT - SHARES.slow_together


def test_no_more_places_are_offered_to_slow_hosts_than_there_are() -> None:
    hosts = [f"quick-{number}" for number in range(IN_FLIGHT // SHARES.quick)]
    shares = quick(*hosts)
    for host in hosts:
        takes(shares, host)

    assert (shares.places, shares.places_for_slow) == (0, 0)


def test_a_place_that_is_released_is_free_again() -> None:
    shares = HostShares()
    takes(shares, "a")
    shares.ended("a", QUICK_SECONDS + 0.1, silent=False)

    assert shares.has_room("a")
    assert shares.places == IN_FLIGHT - SHARES.slow + 1


def test_the_memory_of_quick_hosts_is_bounded() -> None:
    shares = quick(*(f"host-{number}" for number in range(REMEMBERED + 1)))

    assert shares.room_at_quick() == {f"host-{REMEMBERED}": SHARES.quick}


def silent(*hosts: str, times: int = SILENCES) -> HostShares:
    """Shares in which these hosts have not answered so many attempts in a row."""
    shares = HostShares()
    for host in hosts:
        for _ in range(times):
            assert shares.take(host)
            shares.ended(host, QUICK_SECONDS + 8, silent=True)
    return shares


def test_however_many_hosts_are_dead_a_new_one_finds_room() -> None:
    dead = [f"dead-{number}" for number in range(IN_FLIGHT)]
    shares = silent(*dead)

    assert sum(takes(shares, host) for host in dead) == SILENT_TOGETHER
    assert set(dead) <= shares.left_out()
    assert takes(shares, "new") == SHARES.slow


def test_a_host_that_answers_again_is_no_longer_silent() -> None:
    dead = [f"dead-{number}" for number in range(IN_FLIGHT)]
    shares = silent(*dead)
    assert shares.take(dead[0])
    shares.ended(dead[0], QUICK_SECONDS + 8, silent=False)
    for host in dead[1:]:
        takes(shares, host)

    assert takes(shares, dead[0]) == SHARES.slow


def test_fewer_silences_than_that_may_be_chance() -> None:
    hosts = [f"host-{number}" for number in range(IN_FLIGHT // 2)]

    assert sum(takes(silent(*hosts, times=SILENCES - 1), host) for host in hosts) == IN_FLIGHT // 2 * SHARES.slow
