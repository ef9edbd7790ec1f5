"""Statuses of groups and targets: transition table and database constraints."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from posts.states import (
    CANCELLABLE_GROUP_STATUSES,
    FINISHED_GROUP_STATUSES,
    RETRYABLE_GROUP_STATUSES,
    TARGET_TRANSITIONS,
    TargetStatus,
    group_status_from_targets,
    statuses_valid_before,
)
from tests.conftest import ApiClient
from tests.posts.rows import create


@pytest.mark.parametrize(
    ("targets", "group"),
    [
        ("pending", "publishing"),
        ("published pending", "publishing"),
        ("failed publishing", "publishing"),
        ("unconfirmed processing", "publishing"),
        ("published retrying cancelled", "publishing"),
        ("published", "published"),
        ("published published", "published"),
        ("published cancelled", "published"),
        ("failed", "failed"),
        ("failed failed", "failed"),
        ("failed cancelled", "failed"),
        ("published failed", "partial"),
        ("published failed cancelled", "partial"),
        ("unconfirmed", "unconfirmed"),
        ("unconfirmed published", "unconfirmed"),
        ("unconfirmed failed", "unconfirmed"),
        ("unconfirmed published failed cancelled", "unconfirmed"),
        ("cancelled", "cancelled"),
        ("cancelled cancelled", "cancelled"),
    ],
)
def test_a_released_groups_status_follows_from_its_targets(targets: str, group: str) -> None:
    assert group_status_from_targets(targets.split()) == group


@pytest.mark.parametrize(
    ("state", "following"),
    [
        ("pending", "publishing failed unconfirmed cancelled"),
        ("publishing", "publishing processing retrying published failed unconfirmed"),
        ("processing", "publishing published failed unconfirmed"),
        ("retrying", "publishing published failed unconfirmed"),
        ("failed", "pending"),
        ("unconfirmed", "pending"),
        ("published", ""),
        ("cancelled", ""),
    ],
)
def test_allowed_transitions_of_a_target(state: str, following: str) -> None:
    assert TARGET_TRANSITIONS[state] == frozenset(following.split())


def test_only_a_target_whose_publication_has_begun_becomes_published() -> None:
    assert statuses_valid_before("published") == ["publishing", "processing", "retrying"]
    assert set(TARGET_TRANSITIONS) == set(TargetStatus)


def test_a_group_is_never_both_finished_and_cancellable_nor_running_and_retryable() -> None:
    assert not FINISHED_GROUP_STATUSES & set(CANCELLABLE_GROUP_STATUSES)
    assert set(RETRYABLE_GROUP_STATUSES) <= FINISHED_GROUP_STATUSES


@pytest.mark.parametrize("status", ["published", "failed", "unconfirmed", "cancelled"])
def test_the_database_refuses_a_finished_target_that_is_due(api: ApiClient, account: ConnectedAccount, status: str) -> None:
    create(api, account)

    with pytest.raises(IntegrityError):
        PostTarget.objects.update(status=status, due_at=timezone.now())


@pytest.mark.parametrize("model", [PostGroup, PostTarget])
def test_the_database_refuses_an_unknown_status(api: ApiClient, account: ConnectedAccount, model: Any) -> None:
    create(api, account, draft=True)

    with pytest.raises(IntegrityError):
        model.objects.update(status="done")
