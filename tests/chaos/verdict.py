"""Compares the service's data with what really happened in a chaos run; pure functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.load import ENDED, Post
from tests.chaos.platforms import Accepted, marker_of

FINAL_TARGETS = frozenset({"published", "failed", "unconfirmed", "cancelled"})
SETTLED = frozenset({"published"})
HELD = frozenset({"pending", "publishing", "processing", "retrying", "unconfirmed"})
TOLD_TARGETS = frozenset({"published", "failed", "unconfirmed"})
# What must not be. The order is that of the table; each has to be 0.
FAULTS = (
    "lost",
    "doubled",
    "stuck",
    "failed yet out",
    "failed without a code",
    "early",
    "refused",
    "accounts cut off",
    "deliveries missing",
    "events sent twice",
    "bad signatures",
    "drift in cents",
    "wrong answers",
)
SHOWN_FINDINGS = 8  # of each kind


@dataclass(frozen=True)
class Evidence:
    """The data of a run that the verdict compares."""

    posts: Sequence[Post]
    database: Mapping[str, Any]  # as tests/chaos/final_state.py writes it
    accepted: Accepted
    first_seen: Mapping[str, float]  # marker -> unix seconds
    attempts: Mapping[str, int]  # delivery id -> attempts that a receiver got
    answered_well: Mapping[str, int]  # of these, the ones that it answered at once with 200
    receiver_faults: Sequence[str] = ()
    hopeless: frozenset[str] = frozenset()  # URLs at which a dead letter is right
    wrong_answers: Sequence[str] = ()


@dataclass
class Verdict:
    """The table: counts by name, and one line for each fault that was found."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(FAULTS, 0)))
    findings: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Return whether no fault was found."""
        return not any(self.counts[name] for name in FAULTS)

    def find(self, name: str, what: str, times: int = 1) -> None:
        """Count a fault of FAULTS and store its description."""
        self.counts[name] += times
        self.findings.append(f"{name}: {what}")


def compare(evidence: Evidence) -> Verdict:
    """Compare all data and return the verdict."""
    verdict = Verdict()
    for post in evidence.posts:
        _check_post(verdict, evidence, post)
    _check_unanswered(verdict, evidence)
    _check_deliveries(verdict, evidence)
    _check_money(verdict, evidence.database)
    for account in evidence.database["accounts"]:
        if account["status"] != "active":
            verdict.find("accounts cut off", f"{account['id']} ({account['platform']}) is {account['status']}")
    for name, found in (("bad signatures", evidence.receiver_faults), ("wrong answers", evidence.wrong_answers)):
        for what in found:
            verdict.find(name, what)
    return verdict


def table(verdict: Verdict, rows: Mapping[str, object]) -> str:
    """Format the table for people: counts, then `rows`, then what must be 0, then the faults found."""
    counted = {name: count for name, count in verdict.counts.items() if name not in FAULTS}
    lines = [f"  {name:34} {value}" for name, value in {**counted, **rows}.items()]
    lines += [f"  {'! ' if verdict.counts[name] else ''}{name.upper():34} {verdict.counts[name]}" for name in FAULTS]
    for name in FAULTS:
        found = [finding for finding in verdict.findings if finding.startswith(f"{name}: ")]
        lines += [f"  {finding}" for finding in found[:SHOWN_FINDINGS]]
        if len(found) > SHOWN_FINDINGS:
            lines.append(f"  {name}: … and {len(found) - SHOWN_FINDINGS} more")
    return "\n".join(lines)


def _check_post(verdict: Verdict, evidence: Evidence, post: Post) -> None:
    counts = verdict.counts
    counts["posts sent"] += 1
    if post.refusal or not post.group_ids:
        verdict.find("refused", f"{post.marker}: {post.refusal or 'no client got an answer'}")
    if not post.group_ids:
        return
    counts["posts accepted"] += 1
    counts["posts that got another round"] += post.another_round
    if len(post.group_ids) > 1:
        verdict.find("doubled", f"{post.marker}: one Idempotency-Key answered {sorted(post.group_ids)}")
    status = post.body.get("status")
    if status not in ENDED:
        verdict.find("stuck", f"{post.marker}: {post.group_id} is {status}")
    if post.cancelled and status != "cancelled":
        verdict.find("lost", f"{post.marker}: the cancellation of {post.group_id} was taken, and it is {status}")
    targets = {target["connected_account_id"]: target for target in post.body.get("targets", [])}
    for account in post.accounts:
        counts["targets"] += 1
        if account.id not in targets:
            verdict.find("lost", f"{post.marker}: {post.group_id} has no target on {account.id}")
        else:
            _check_target(verdict, post, targets[account.id], evidence.accepted[account.id, post.marker])
    seen = evidence.first_seen.get(post.marker)
    if post.scheduled_at and seen is not None and seen < post.scheduled_at.timestamp():
        early = post.scheduled_at.timestamp() - seen
        verdict.find("early", f"{post.marker}: {post.group_id} arrived {early:.3f} s before its time")


def _check_target(verdict: Verdict, post: Post, target: Mapping[str, Any], times: int) -> None:
    """Check one target's status against how often the platform published it."""
    status, counts = target["status"], verdict.counts
    what = f"{post.marker}: {target['id']} ({target['platform']}) is {status} and {times} times at the platform"
    if times > 1:
        verdict.find("doubled", what)
    code = (target["error"] or {}).get("code")
    match status, times:
        case "published", _:
            counts["published once"] += times == 1
        case "unconfirmed", _:
            counts[f"unconfirmed on {target['platform']}, {'out' if times else 'not out'}"] += 1
        case "failed", 0:
            counts[f"failed, {code}"] += 1
        case "cancelled", 0:
            counts["cancelled"] += 1
    if fault := _fault_of(status, times, code):
        verdict.find(fault, f"{what}, error {code}")


def _fault_of(status: str, times: int, code: str | None) -> str:
    """Return the fault of a target with this status and number of publications, or ""."""
    if status not in FINAL_TARGETS:
        return "stuck"
    if status == "published" and not times:
        return "lost"
    if status == "cancelled" and times:
        return "doubled"
    if status == "failed" and times:
        return "failed yet out"
    return "failed without a code" if status in {"failed", "unconfirmed"} and not code else ""


def _check_unanswered(verdict: Verdict, evidence: Evidence) -> None:
    """Check for posts without an answer: a second group with the same marker, or an unplanned post."""
    groups = Counter(marker_of(group["text"]) for group in evidence.database["groups"])
    accounts = {post.marker: {account.id for account in post.accounts} for post in evidence.posts}
    for marker, times in groups.items():
        if times > 1:
            verdict.find("doubled", f"{marker}: {times} groups in the database")
    for account_id, marker in evidence.accepted:
        if account_id not in accounts.get(marker, set()):
            verdict.find("doubled", f"{marker or 'a text of nobody'} is on {account_id}, which was not asked for")
    stored = {group["id"]: group["status"] for group in evidence.database["groups"]}
    for post in evidence.posts:
        if post.group_id and stored.get(post.group_id) != post.body.get("status"):
            difference = f"the API says {post.body.get('status')}, the database {stored.get(post.group_id)}"
            verdict.find("lost", f"{post.marker}: of {post.group_id} {difference}")


def _check_deliveries(verdict: Verdict, evidence: Evidence) -> None:
    deliveries = {each["event_id"]: each for each in evidence.database["deliveries"]}
    events: defaultdict[str, defaultdict[tuple[str, str | None], list[str]]] = defaultdict(lambda: defaultdict(list))
    for event in evidence.database["events"]:
        events[event["post_group_id"]][event["kind"], event["target_id"]].append(event["id"])
    for post in evidence.posts:
        if post.group_id and post.body.get("status") in ENDED:
            _check_events(verdict, evidence, post, events[post.group_id], deliveries)
    verdict.counts["delivery attempts"] += sum(evidence.attempts.values())
    # At least once, not exactly once: an answer that a killed worker did not write down is asked for again.
    verdict.counts["deliveries repeated"] += sum(times - 1 for times in evidence.answered_well.values() if times > 1)


def _check_events(
    verdict: Verdict,
    evidence: Evidence,
    post: Post,
    events: Mapping[tuple[str, str | None], list[str]],
    deliveries: Mapping[str, Mapping[str, Any]],
) -> None:
    """Check the events of an ended group: each expected one exists and is delivered if the post named a receiver."""
    for due in _events_due(post):
        if due not in events:
            verdict.find("deliveries missing", f"{post.marker}: {post.group_id} has no event {due}")
    for kind, ids in events.items():
        if len(ids) > 1 and not post.another_round:
            verdict.find("events sent twice", f"{post.marker}: {kind} of {post.group_id}: {ids}")
        for event_id in ids if post.webhook_url else ():
            verdict.counts["deliveries expected"] += 1
            _check_delivery(verdict, evidence, f"{post.marker}: {kind}", deliveries.get(event_id))


def _events_due(post: Post) -> Iterator[tuple[str, str | None]]:
    yield f"post.{post.body['status']}", None
    if post.scheduled_at:
        yield "post.scheduled", None
    targets = post.body["targets"]
    for target in targets if len(targets) > 1 else ():
        if target["status"] in TOLD_TARGETS:
            yield f"post.target.{target['status']}", target["id"]


def _check_delivery(verdict: Verdict, evidence: Evidence, what: str, delivery: Mapping[str, Any] | None) -> None:
    if delivery is None:
        verdict.find("deliveries missing", f"{what} has no delivery")
        return
    what = f"{what}, {delivery['id']} to {delivery['url']} is {delivery['status']} ({delivery['last_error']})"
    if delivery["status"] == "delivered" and evidence.attempts.get(delivery["id"]):
        verdict.counts["deliveries made"] += 1
    elif delivery["status"] == "dead_letter" and delivery["last_error"] and delivery["url"] in evidence.hopeless:
        verdict.counts["dead letters with a reason"] += 1
    else:
        verdict.find("deliveries missing", what)


def _check_money(verdict: Verdict, database: Mapping[str, Any]) -> None:
    """Check the counters against the ledger, and both against the published and possibly published targets."""
    if database["drift_cents"]:
        verdict.find("drift in cents", "counters and ledger disagree", database["drift_cents"])
    for name, wanted in (("settled_cents", SETTLED), ("held_cents", HELD)):
        owed = sum(target["price_cents"] for target in database["targets"] if target["status"] in wanted)
        if database[name] != owed:
            verdict.find("drift in cents", f"{name} is {database[name]}, not {owed}", abs(database[name] - owed))
