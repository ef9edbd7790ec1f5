"""How the sender's places are shared out among hosts."""

from __future__ import annotations

from webhooks.host_shares import (
    LONGEST_REST,
    QUICK_HOST_SHARE,
    QUICK_SECONDS,
    REMEMBERED_HOSTS,
    SHORTEST_REST,
    SILENCES,
    SLOW_HOST_SHARE,
    SLOW_HOSTS_TOGETHER,
    HostShares,
)
from webhooks.sender import IN_FLIGHT


def quick(*hosts: str) -> HostShares:
    """Shares in which these hosts have answered quickly."""
    shares = HostShares()
    for host in hosts:
        shares.take(host)
        shares.release(host, 0.1)
    return shares


def takes(shares: HostShares, host: str) -> int:
    """How many places the host gets when it asks for all of them."""
    return sum(shares.take(host) for _ in range(IN_FLIGHT))


def test_a_new_host_gets_the_share_of_a_slow_one() -> None:
    shares = HostShares()

    assert takes(shares, "a") == SLOW_HOST_SHARE
    assert shares.left_out() == {"a"}


def test_a_host_that_answered_quickly_gets_more() -> None:
    shares = quick("a")

    assert shares.room_at_quick() == {"a": QUICK_HOST_SHARE}
    assert takes(shares, "a") == QUICK_HOST_SHARE
    assert shares.room_at_quick() == {}


def test_a_host_that_turned_slow_loses_its_share() -> None:
    shares = quick("a")
    shares.take("a")
    shares.release("a", QUICK_SECONDS + 0.1)

    assert takes(shares, "a") == SLOW_HOST_SHARE


def test_slow_hosts_together_leave_half_of_the_places() -> None:
    shares = HostShares()
    for number in range(SLOW_HOSTS_TOGETHER // SLOW_HOST_SHARE):
        takes(shares, f"dead-{number}")

    assert shares.places_for_slow == 0
    assert shares.places == IN_FLIGHT - SLOW_HOSTS_TOGETHER


def test_no_more_places_are_offered_to_slow_hosts_than_there_are() -> None:
    hosts = [f"quick-{number}" for number in range(IN_FLIGHT // QUICK_HOST_SHARE)]
    shares = quick(*hosts)
    for host in hosts:
        takes(shares, host)

    assert (shares.places, shares.places_for_slow) == (0, 0)


def test_a_place_that_is_released_is_free_again() -> None:
    shares = HostShares()
    takes(shares, "a")
    shares.release("a", QUICK_SECONDS + 0.1)

    assert shares.has_room("a")
    assert shares.places == IN_FLIGHT - SLOW_HOST_SHARE + 1


def test_the_memory_of_quick_hosts_is_bounded() -> None:
    shares = quick(*(f"host-{number}" for number in range(REMEMBERED_HOSTS + 1)))

    assert shares.room_at_quick() == {f"host-{REMEMBERED_HOSTS}": QUICK_HOST_SHARE}


class Clock:
    """Seconds that stand still until they are moved."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def silent(clock: Clock, times: int = SILENCES) -> HostShares:
    """Shares in which the host "a" has not answered so many attempts in a row."""
    shares = HostShares(clock)
    for _ in range(times):
        clock.seconds += LONGEST_REST
        assert shares.take("a")
        shares.release("a", QUICK_SECONDS + 8, answered=False)
    return shares


def test_a_host_that_answers_nothing_rests_and_then_shows_with_one_attempt_whether_it_is_back() -> None:
    clock = Clock()
    shares = silent(clock)

    assert (shares.left_out(), takes(shares, "a")) == ({"a"}, 0)
    clock.seconds += SHORTEST_REST
    assert (shares.left_out(), takes(shares, "a")) == (set(), 1)
    shares.release("a", 0.1)
    assert takes(shares, "a") == QUICK_HOST_SHARE


def test_fewer_silences_than_that_may_be_chance() -> None:
    assert takes(silent(Clock(), SILENCES - 1), "a") == SLOW_HOST_SHARE


def test_each_further_silence_doubles_the_rest_up_to_a_bound() -> None:
    clock = Clock()
    shares = silent(clock, SILENCES + 1)
    clock.seconds += SHORTEST_REST * 2 - 0.1
    assert takes(shares, "a") == 0
    clock.seconds += 0.1
    assert takes(shares, "a") == 1

    shares = silent(clock, SILENCES + 20)
    clock.seconds += LONGEST_REST
    assert takes(shares, "a") == 1
