"""Fair shares of the webhook sender's connections for workspaces and hosts, so that slow receivers do not delay others.

A holder is one workspace sending to one host. The sender's slots are shared among workspaces and among domains, and each
host's slots among the workspaces that send to it, by one rule: nobody may hold more than half of what the others leave.
So a single sender gets half, several get equal shares, and a newcomer always finds a free slot. Slow holders, and those
that do not answer at all, share smaller parts of these slots. An attempt without an answer for QUICK_SECONDS leaves the part
of the slow holders: otherwise a hundred dead hosts would hold that part, and a new host of the same workspace would wait
until enough of them are known as silent.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Q, Value
from django.db.models.functions import Concat
from publicsuffixlist import PublicSuffixList

from config.jobs.fair_shares import MAX_QUICK_HOLDERS, ConcurrentJobLimits, FairShares
from webhooks.models import Delivery
from webhooks.sender import MAX_IN_FLIGHT

ATTEMPT_SLOT_LIMITS = ConcurrentJobLimits(slots=MAX_IN_FLIGHT, quick=32, slow=2, slow_together=MAX_IN_FLIGHT // 2)
SILENT_AFTER_ATTEMPTS = 5  # consecutive unanswered attempts after which a holder counts as silent
ALL, SLOW, SILENT = "all", "slow", "silent"
MAX_UNANSWERED = MAX_IN_FLIGHT * 3 // 4  # attempts to slow holders and attempts without an answer for QUICK_SECONDS
SENDER_LIMITS = {ALL: MAX_IN_FLIGHT, SLOW: ATTEMPT_SLOT_LIMITS.slow_together, SILENT: MAX_IN_FLIGHT // 4}
HOST_LIMITS = {ALL: 2 * ATTEMPT_SLOT_LIMITS.quick, SLOW: ATTEMPT_SLOT_LIMITS.quick, SILENT: ATTEMPT_SLOT_LIMITS.quick // 2}
MIN_SLOTS = 8  # slots that every workspace and domain may hold in any case, so that few are full at a time
WORKSPACE_AND_HOST_EXPRESSION = Concat("workspace_id", Value(" "), "host")

ShareGroup = tuple[str, str]
RunningAttemptCounts = dict[str, Counter[ShareGroup]]
ALL_SENDERS: ShareGroup = ("", "")


def workspace_and_host_key(delivery: Delivery) -> str:
    """Return the key by which running webhook attempts are counted: the delivery's workspace id and host.

    In queries, WORKSPACE_AND_HOST_EXPRESSION computes the same text.
    """
    return f"{delivery.workspace_id} {delivery.host}"


@dataclass(frozen=True)
class SendersAndHostsToSkip:
    """The workspaces, domains and hosts whose due webhook deliveries are not claimed now, mostly because a share is full.

    `holders` are pairs of workspace and host, which may also be left out because another query claims their deliveries.
    """

    holders: set[str]
    workspaces: set[str]
    domains: set[str]
    hosts: set[str]

    def as_exclude_condition(self) -> Q:
        """Return the query condition that matches the webhook deliveries of the workspaces, domains and hosts to skip.

        The queried rows need the alias `holder`.
        """
        query = Q(workspace_id__in=self.workspaces) | Q(host__in=self.hosts) | Q(holder__in=self.holders)
        for domain in self.domains:
            query |= Q(host__startswith=f"{domain}:") | Q(host__contains=f".{domain}:")
        return query


class HostShares(FairShares):
    """The counter of running webhook attempts, which limits each workspace, domain and host to a fair share of them."""

    def __init__(self) -> None:
        super().__init__(ATTEMPT_SLOT_LIMITS)
        self._silences: Counter[str] = Counter()
        self._long_waits: Counter[str] = Counter()
        self._tally: RunningAttemptCounts | None = None

    @property
    def free_slow_job_slots(self) -> int:
        slow, waiting = self._counted()[SLOW][ALL_SENDERS], self._long_waits.total()
        return min(self.free_job_slots_of_worker, self.shares.slow_together - slow, MAX_UNANSWERED - slow - waiting)

    def claimable_slots_by_quick_holder(self) -> dict[str, int]:
        """Return how many more webhook attempts each workspace may begin to each host that answers fast.

        Pairs are left out unless at least a quarter of their share is free.
        """
        free_slots = {}
        for holder in self._quick:
            own = self._in_flight[holder]
            free = min(self.shares.quick - own, self._free_slots(holder))
            if free > 0 and 4 * free >= own + free:
                free_slots[holder] = free
        return free_slots

    def max_new_attempts_to_quick_hosts(self, free_slots: Mapping[str, int]) -> int:
        """Return how many more webhook attempts may begin in total to hosts that answer fast.

        `free_slots` are the numbers for each pair of workspace and host.
        """
        tally = self._counted()[ALL]
        workspaces: Counter[ShareGroup] = Counter()
        hosts: Counter[ShareGroup] = Counter()
        for holder, free in free_slots.items():
            workspace, _, host = _groups_of(holder)
            workspaces[workspace] += free
            hosts[host] += free
        within_workspaces = sum(min(free, _free_of_sender(ALL, tally, group)) for group, free in workspaces.items())
        within_hosts = sum(min(free, HOST_LIMITS[ALL] - tally[group]) for group, free in hosts.items())
        return min(self.free_job_slots_of_worker, within_workspaces, within_hosts)

    def senders_and_hosts_to_skip_for_slow_hosts(self) -> SendersAndHostsToSkip:
        """Return the workspaces, domains and hosts to skip when webhook deliveries to slow hosts are claimed.

        These are the full shares, and those of fast hosts, whose deliveries are claimed separately.
        """
        tally = self._counted()
        found: dict[str, set[str]] = {"workspace": set(), "domain": set(), "host": set()}
        for kind in (ALL, SLOW):
            for group in tally[kind]:
                level, name = group
                if level == "host":
                    is_full = tally[kind][group] >= HOST_LIMITS[kind]
                else:
                    is_full = group != ALL_SENDERS and _free_of_sender(kind, tally[kind], group) <= 0
                if is_full:
                    found[level].add(name)
        silent = {holder for holder in self._silences if self._is_silent(holder) and not self.has_free_slot(holder)}
        return SendersAndHostsToSkip(
            self.holders_excluded_from_slow_claims() | silent, found["workspace"], found["domain"], found["host"]
        )

    def has_free_slot(self, holder: str) -> bool:
        return super().has_free_slot(holder) and self._free_slots(holder) > 0

    def try_take_job_slot(self, holder: str) -> bool:
        taken = super().try_take_job_slot(holder)
        if taken and self._tally is not None:
            self._count(self._tally, holder, 1, self._kinds(holder))
        return taken

    def record_job_end(self, holder: str, seconds: float | None) -> None:
        super().record_job_end(holder, seconds)
        self._tally = None  # holders may now be slow, quick or silent, so the counts are outdated

    def count_running_attempt_as_slow(self, holder: str) -> None:
        """Count a running webhook attempt as slow in its host's share, because it had no answer for QUICK_SECONDS."""
        self._long_waits[holder] += 1
        self._tally = None

    def record_attempt_end(self, holder: str, seconds: float, *, silent: bool, after_long_wait: bool = False) -> None:
        """Record that a webhook attempt ended after `seconds`; `silent` means that the host did not answer at all.

        `after_long_wait`: `count_running_attempt_as_slow` was called for the attempt.
        """
        if after_long_wait:
            self._long_waits -= Counter([holder])
        self.record_job_end(holder, seconds)
        if not silent:
            self._silences.pop(holder, None)
            return
        if holder not in self._silences and len(self._silences) >= MAX_QUICK_HOLDERS:
            del self._silences[next(iter(self._silences))]
        self._silences[holder] += 1

    def _is_silent(self, holder: str) -> bool:
        return self._silences[holder] >= SILENT_AFTER_ATTEMPTS

    def _kinds(self, holder: str) -> Iterable[str]:
        """Yield the counts to which a new webhook attempt is added: ALL, for slow hosts SLOW, for silent hosts SILENT."""
        yield ALL
        if not self.is_quick(holder):
            yield SLOW
        if self._is_silent(holder):
            yield SILENT

    def _free_slots(self, holder: str) -> int:
        """Return how many more webhook attempts a workspace may begin to one host, by the tightest share that applies."""
        workspace, domain, host = _groups_of(holder)
        own = self._in_flight[holder]
        tally = self._counted()
        return min(
            min(
                _free_of_sender(kind, tally[kind], workspace),
                _free_of_sender(kind, tally[kind], domain),
                _free(HOST_LIMITS[kind], tally[kind][host], own, least=1),
            )
            for kind in self._kinds(holder)
        )

    def _counted(self) -> RunningAttemptCounts:
        """Count the running webhook attempts in total and by workspace, domain and host; slow and silent ones also apart."""
        if self._tally is None:
            tally: RunningAttemptCounts = {kind: Counter() for kind in (ALL, SLOW, SILENT)}
            for holder, count in self._in_flight.items():
                waiting = self._long_waits[holder]
                self._count(tally, holder, count - waiting, self._kinds(holder))
                self._count(tally, holder, waiting, (ALL, SILENT))
            self._tally = tally
        return self._tally

    def _count(self, tally: RunningAttemptCounts, holder: str, count: int, kinds: Iterable[str]) -> None:
        for kind in kinds:
            for group in (ALL_SENDERS, *_groups_of(holder)):
                tally[kind][group] += count


def _free_of_sender(kind: str, tally: Counter[ShareGroup], group: ShareGroup) -> int:
    return _free(SENDER_LIMITS[kind], tally[ALL_SENDERS], tally[group], least=MIN_SLOTS)


def _free(slots: int, held: int, own: int, *, least: int) -> int:
    """Return how many more webhook attempts a workspace, domain or host may begin, so that its share stays fair.

    A sender may have half of the connections that the others leave.
    """
    return min(slots - held, max(least, (slots - held + own) // 2) - own)


@functools.lru_cache(maxsize=4 * MAX_QUICK_HOLDERS)
def _groups_of(holder: str) -> tuple[ShareGroup, ShareGroup, ShareGroup]:
    workspace, _, host = holder.partition(" ")
    return ("workspace", workspace), ("domain", registrable_domain(host.rpartition(":")[0])), ("host", host)


def registrable_domain(name: str) -> str:
    """Return the registrable domain of a webhook host, such as `example.co.uk` of `hooks.example.co.uk`.

    An IP address or public suffix is returned unchanged. Uses the library's bundled list of public suffixes. The last two
    labels would not do: they would put all customers of a hosting service (`*.herokuapp.com`) or of a country's registry
    (`*.co.uk`) into one domain.
    """
    if ":" in name or name[-1:].isdigit():
        return name
    return _public_suffixes().privatesuffix(name) or name


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
