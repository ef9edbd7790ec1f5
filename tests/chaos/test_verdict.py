"""The chaos run's verdict: it finds each kind of fault and reports no others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.chaos.load import Post, plan_posts
from tests.chaos.platforms import Account
from tests.chaos.verdict import FAULTS, HELD, Evidence, compare, table

FIRST = Account("acc_1", "bluesky", repeatable=True)
SECOND = Account("acc_2", "bluesky", repeatable=True)
HOOK = "http://127.0.0.1:9000/hook"
DUE = datetime(2026, 11, 20, 12, tzinfo=UTC)
MARKER = "chaos1n000001"


def target(number: int, status: str, code: str | None = None) -> dict[str, Any]:
    error = {"code": code} if code else None
    return {
        "id": f"tgt_{number}",
        "connected_account_id": f"acc_{number}",
        "platform": "bluesky",
        "status": status,
        "error": error,
    }


def evidence() -> Evidence:
    """Return the evidence of a post published on both accounts with all events delivered."""
    post = Post(MARKER, (FIRST, SECOND), delay=5.0, webhook_url=HOOK, scheduled_at=DUE, group_ids={"pgr_1"})
    post.body = {"status": "published", "targets": [target(1, "published"), target(2, "published")]}
    kinds = [
        ("post.scheduled", None),
        ("post.target.published", "tgt_1"),
        ("post.target.published", "tgt_2"),
        ("post.published", None),
    ]
    events = [
        {"id": f"evt_{number}", "kind": kind, "target_id": target_id, "post_group_id": "pgr_1"}
        for number, (kind, target_id) in enumerate(kinds)
    ]
    deliveries = [
        {"id": f"dlv_{number}", "event_id": f"evt_{number}", "url": HOOK, "status": "delivered", "last_error": None}
        for number in range(4)
    ]
    database = {
        "groups": [{"id": "pgr_1", "text": f"{MARKER} good news", "status": "published"}],
        "targets": [{"status": "published", "price_cents": 1}, {"status": "published", "price_cents": 1}],
        "events": events,
        "deliveries": deliveries,
        "accounts": [{"id": "acc_1", "platform": "bluesky", "status": "active"}],
        "drift_cents": 0,
        "held_cents": 0,
        "settled_cents": 2,
    }
    got = {f"dlv_{number}": 1 for number in range(4)}
    return Evidence(
        posts=[post],
        database=database,
        accepted=Counter({("acc_1", MARKER): 1, ("acc_2", MARKER): 1}),
        first_seen={MARKER: DUE.timestamp() + 0.4},
        attempts=got,
        answered_well=got,
    )


def test_a_run_without_faults_passes() -> None:
    verdict = compare(evidence())

    assert verdict.passed
    assert verdict.findings == []
    assert verdict.counts["published once"] == 2
    assert verdict.counts["deliveries made"] == verdict.counts["deliveries expected"] == 4


def second_target(status: str, code: str | None = None) -> Callable[[Evidence], None]:
    """Return a function that changes the second target's state in the evidence, with its group and events as needed."""

    def change(found: Evidence) -> None:
        found.posts[0].body["targets"][1] = target(2, status, code)
        found.database["events"][2]["kind"] = f"post.target.{status}"
        found.database["targets"][1]["status"] = status
        found.database["settled_cents"] -= 1  # type: ignore[index]
        found.database["held_cents"] += status in HELD  # type: ignore[index]

    return change


def not_at_the_platform(found: Evidence) -> None:
    del found.accepted["acc_2", MARKER]


def both(*changes: Callable[[Evidence], None]) -> Callable[[Evidence], None]:
    def change(found: Evidence) -> None:
        for each in changes:
            each(found)

    return change


FOUND: dict[str, tuple[str, Callable[[Evidence], Any]]] = {
    "published by its word only": ("lost", not_at_the_platform),
    "a target that the API has forgotten": ("lost", lambda found: found.posts[0].body["targets"].pop()),
    "a group that the database has forgotten": ("lost", lambda found: found.database["groups"].clear()),
    "a taken cancellation": ("lost", lambda found: setattr(found.posts[0], "cancelled", True)),
    "twice at the platform": ("doubled", lambda found: found.accepted.update([("acc_1", MARKER)])),
    "cancelled yet out": ("doubled", second_target("cancelled")),
    "one key, two groups": ("doubled", lambda found: found.posts[0].group_ids.add("pgr_2")),
    "a group that no answer named": (
        "doubled",
        lambda found: found.database["groups"].append({"id": "pgr_9", "text": MARKER, "status": "published"}),
    ),
    "on an account that was not asked for": ("doubled", lambda found: found.accepted.update([("acc_3", MARKER)])),
    "still running": ("stuck", second_target("retrying")),
    "failed yet at the platform": ("failed yet out", second_target("failed", "PLATFORM_UNAVAILABLE")),
    "failed without saying why": ("failed without a code", both(second_target("failed"), not_at_the_platform)),
    "before its time": ("early", lambda found: found.first_seen.update({MARKER: DUE.timestamp() - 0.01})),  # type: ignore[attr-defined]
    "no answer at all": ("refused", lambda found: found.posts[0].group_ids.clear()),
    "a refusal of what nothing was wrong with": ("refused", lambda found: setattr(found.posts[0], "refusal", "422")),
    "an event that was never sent": ("deliveries missing", lambda found: found.database["events"].pop(0)),
    "an event without a delivery": ("deliveries missing", lambda found: found.database["deliveries"].pop()),
    "delivered by its word only": ("deliveries missing", lambda found: found.attempts.pop("dlv_0")),  # type: ignore[attr-defined]
    "a dead letter to a good receiver": (
        "deliveries missing",
        lambda found: found.database["deliveries"][0].update(status="dead_letter", last_error="500"),
    ),
    "an event sent again": (
        "events sent twice",
        lambda found: found.database["events"].append({**found.database["events"][3], "id": "evt_0"}),
    ),
    "an account that has to be connected again": (
        "accounts cut off",
        lambda found: found.database["accounts"][0].update(status="needs_reauth"),
    ),
    "counters beside the ledger": ("drift in cents", lambda found: found.database.update(drift_cents=3)),  # type: ignore[attr-defined]
    "settled without a publication": ("drift in cents", lambda found: found.database.update(settled_cents=3)),  # type: ignore[attr-defined]
    "held for nothing": ("drift in cents", lambda found: found.database.update(held_cents=1)),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("what", FOUND)
def test_every_kind_of_fault_is_found(what: str) -> None:
    name, spoil = FOUND[what]
    found = evidence()
    spoil(found)

    verdict = compare(found)

    assert not verdict.passed
    assert verdict.counts[name] >= 1
    assert any(finding.startswith(f"{name}: ") for finding in verdict.findings)
    assert {other for other in FAULTS if verdict.counts[other]} <= {name, "lost"}  # a group that is gone is lost, too


def test_faults_seen_by_the_harness_are_counted() -> None:
    verdict = compare(replace(evidence(), receiver_faults=["dlv_1: no fit"], wrong_answers=["500"]))

    assert (verdict.counts["bad signatures"], verdict.counts["wrong answers"]) == (1, 1)


@pytest.mark.parametrize("out", [0, 1])
def test_an_unconfirmed_target_may_be_published_or_not(out: int) -> None:
    found = evidence()
    second_target("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")(found)
    found.accepted["acc_2", MARKER] = out

    assert compare(found).findings == []


def test_a_dead_letter_is_correct_if_the_receiver_never_accepts() -> None:
    found = replace(evidence(), hopeless=frozenset({HOOK}))
    found.database["deliveries"][0].update(status="dead_letter", last_error="connection refused")

    verdict = compare(found)

    assert verdict.passed
    assert verdict.counts["dead letters with a reason"] == 1


def test_a_repeated_delivery_attempt_is_counted_and_allowed() -> None:
    again = {"dlv_0": 2, "dlv_1": 1}

    verdict = compare(replace(evidence(), answered_well=again))

    assert verdict.passed
    assert verdict.counts["deliveries repeated"] == 1


def test_the_table_marks_faults() -> None:
    found = evidence()
    not_at_the_platform(found)
    lines = table(compare(found), {"kill -9 worker": 3}).splitlines()

    assert [line.split() for line in lines if line.startswith("  ! ")] == [["!", "LOST", "1"]]
    assert ["kill", "-9", "worker", "3"] in [line.split() for line in lines]
    assert lines[-1].startswith(f"  lost: {MARKER}: ")


def test_the_same_seed_plans_the_same_posts() -> None:
    def planned(seed: int) -> list[Post]:
        return plan_posts(random.Random(seed), 50, 7, [FIRST, SECOND], {HOOK: 1})

    assert planned(1) == planned(1)
    assert planned(1) != planned(2)
    assert len({post.marker for post in planned(1)}) == 50
