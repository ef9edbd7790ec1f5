"""apply_fenced_updates changes many rows as `held(...).update(...)` changes each."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from config.jobs.claims import claimed_row_queryset
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates
from posts.models import PostGroup, PostTarget
from posts.states import TargetStatus, statuses_valid_before
from tests import factories

pytestmark = pytest.mark.django_db
NOON = datetime(2027, 3, 10, 12, 0, 0, 123456, tzinfo=UTC)
MAY_END = statuses_valid_before(TargetStatus.FAILED)
# Every kind of value that an outcome writes: texts of any form, nothing, JSON, times, numbers, truth.
CHANGES: list[dict[str, Any]] = [
    {"status": TargetStatus.FAILED, "error": {"code": "X", "message": "50 % of “it's”\n\\ 🧵"}, "due_at": None},
    {"status": TargetStatus.FAILED, "error": None, "due_at": None},
    {"status": TargetStatus.RETRYING, "due_at": NOON, "lease_until": None, "progress": {"sent": ["a", 1, None]}},
    {"status": TargetStatus.RETRYING, "due_at": NOON, "lease_until": NOON, "progress": {}},
    {"phase": "create", "attempts": 3, "certainty": "maybe_sent", "turn_at": None, "external_id": "it's %s"},
]


@pytest.fixture
def targets() -> list[PostTarget]:
    account = factories.AccountFactory.create()
    group = {"workspace": account.workspace, "status": "publishing", "created_by_type": "user", "trace_id": "0" * 32}
    groups = PostGroup.objects.bulk_create([PostGroup(**group) for _ in range(2 * len(CHANGES))])
    of_all = {"account": account, "platform": account.platform, "position": 0, "status": TargetStatus.PUBLISHING}
    return PostTarget.objects.bulk_create([PostTarget(group=each, **of_all, fence=7) for each in groups])


def written(target: PostTarget) -> dict[str, Any]:
    row = PostTarget.objects.filter(pk=target.pk).values().get()
    return {name: value for name, value in row.items() if name not in ("id", "group_id", "created_at", "updated_at")}


def test_update_rows_writes_the_same_as_a_queryset_update(targets: list[PostTarget]) -> None:
    one_by_one, at_once = targets[: len(CHANGES)], targets[len(CHANGES) :]
    for target, changes in zip(one_by_one, CHANGES, strict=True):
        changes = {**changes, "external_id": f"{changes['external_id']} 1"} if "external_id" in changes else changes
        assert claimed_row_queryset(PostTarget.objects.all(), target).update(**changes) == 1

    writes = [FencedUpdate(target, changes, MAY_END) for target, changes in zip(at_once, CHANGES, strict=True)]
    assert apply_fenced_updates(writes) == [True] * len(CHANGES)

    for alone, together, changes in zip(one_by_one, at_once, CHANGES, strict=True):
        expected = {**written(alone), **({"external_id": changes["external_id"]} if "external_id" in changes else {})}
        assert written(together) == expected
        assert {name: getattr(together, name) for name in changes} == changes


def test_a_row_that_another_worker_claimed_or_finished_is_not_changed(targets: list[PostTarget]) -> None:
    taken, ended, mine = targets[:3]
    PostTarget.objects.filter(pk=taken.pk).update(fence=8)
    PostTarget.objects.filter(pk=ended.pk).update(status=TargetStatus.PUBLISHED, certainty="confirmed")
    as_they_were = [written(taken), written(ended)]

    ends = {"status": TargetStatus.FAILED, "due_at": None}
    assert apply_fenced_updates([FencedUpdate(each, ends, MAY_END) for each in (taken, ended, mine)]) == [False, False, True]

    assert [written(taken), written(ended)] == as_they_were
    assert taken.status == TargetStatus.PUBLISHING
    assert written(mine)["status"] == TargetStatus.FAILED


def test_rows_without_fence_are_written_whatever_their_status(targets: list[PostTarget]) -> None:
    first, second, other = (target.group for target in targets[:3])

    assert apply_fenced_updates(
        [
            FencedUpdate(first, {"text": "One", "event_sequence": 5}),
            FencedUpdate(second, {"text": "Two's", "event_sequence": 6}),
        ]
    )

    stored = PostGroup.objects.in_bulk([first.pk, second.pk, other.pk])
    assert [(stored[each.pk].text, stored[each.pk].event_sequence) for each in (first, second, other)] == [
        ("One", 5),
        ("Two's", 6),
        ("", 0),
    ]
