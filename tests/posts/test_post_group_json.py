"""The JSON of posts and validations that is made by hand has the same values as the declared serializer fields."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from rest_framework.serializers import ModelSerializer, Serializer

from accounts.models import ConnectedAccount
from config.api.caller import system_caller
from config.api.serializers import shared_serializer_instance
from posts.content import PostInput, TargetInput
from posts.models import PostGroup, PostTarget
from posts.post_group_json import post_group_json
from posts.selectors import groups_prefetching_targets
from posts.serializers.responses import ListedPostSerializer, PostGroupSerializer, TargetSerializer, ValidationSerializer
from posts.services import validate_post
from posts.states import TargetStatus
from posts.summaries import fetch_summaries_of_queryset
from tests import factories
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create
from tests.posts.scripted_platform import ScriptedPlatform
from workspaces.models import Workspace

ZONE = ZoneInfo("Pacific/Auckland")


def as_declared(serializer: type[ModelSerializer[Any]], row: Any) -> Any:
    """The row serialized by the declared fields."""
    return ModelSerializer.to_representation(shared_serializer_instance(serializer), row)


@pytest.fixture
def groups(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform]
) -> list[PostGroup]:
    """A group with every field set, a failed one, and a minimal draft."""
    create(api, account, telegram_account, text="Bench Ω", metadata={"run": "7"}, webhook_url="https://example.com/in")
    create(api, telegram_account, draft=True, text="A draft")
    run_until_idle()
    moment = datetime(2027, 3, 1, 9, 30, 0, 250_000, ZONE)
    PostGroup.objects.filter(text="Bench Ω").update(
        media=[{"media_id": "med_1"}, {"media_id": "med_2", "alt_text": "A bench"}],
        scheduled_at=moment,
        finished_at=moment + timedelta(seconds=1),
        rejection_reason="Not today.",
    )
    PostTarget.objects.filter(group__text="Bench Ω").update(scheduled_at=moment)
    error = {"code": "X", "message": "y", "suggested_action": "z", "auto_fixable": True, "trace_id": "t"}
    PostTarget.objects.filter(platform="telegram").update(
        status=TargetStatus.FAILED,
        certainty="disproved",
        error=error,
        text="Its own",
        options={"silent": True, "ids": [1, None]},
    )
    return list(groups_prefetching_targets())


def test_the_json_equals_the_serializers_output(groups: list[PostGroup]) -> None:
    assert len(groups) == 2
    for group in groups:
        assert post_group_json(group, group.targets.all()) == as_declared(PostGroupSerializer, group)
        assert list(post_group_json(group, [])) == list(PostGroupSerializer.Meta.fields)
        for target in group.targets.all():
            assert shared_serializer_instance(TargetSerializer).to_representation(target) == as_declared(
                TargetSerializer, target
            )
            assert list(shared_serializer_instance(TargetSerializer).to_representation(target)) == list(
                TargetSerializer.Meta.fields
            )


def test_the_answer_to_get_equals_the_serializers_output(api: ApiClient, groups: list[PostGroup]) -> None:
    for group in groups:
        assert api.get(f"/posts/{group.id}").json() == {"post_group": as_declared(PostGroupSerializer, group)}


def test_times_are_utc_in_any_active_time_zone(groups: list[PostGroup]) -> None:
    [group] = [group for group in groups if group.text == "Bench Ω"]
    target = group.targets.all()[0]
    target.scheduled_at = datetime(2027, 3, 1, 9, 30, tzinfo=ZONE)
    with timezone.override(ZONE):
        shown = post_group_json(group, [target])
        assert shown["scheduled_at"] == shown["targets"][0]["scheduled_at"] == "2027-02-28T20:30:00Z"


def test_the_json_of_a_list_equals_the_serializers_output(groups: list[PostGroup]) -> None:
    [group] = [group for group in groups if group.text == "Bench Ω"]
    [row] = fetch_summaries_of_queryset(PostGroup.objects.filter(pk=group.pk).order_by("pk"))
    shown = shared_serializer_instance(ListedPostSerializer).to_representation((row, ZONE))

    given = {"targets": group.targets, "local_time": "09:30"}
    given |= {name: getattr(group, name) for name in ("id", "status", "scheduled_at", "text", "sandbox")}
    declared = Serializer.to_representation(shared_serializer_instance(ListedPostSerializer), given)
    assert shown == declared
    assert (list(shown), list(shown["targets"][0])) == (list(declared), list(declared["targets"][0]))


def test_the_json_of_a_validation_equals_the_serializers_output(workspace: Workspace, account: ConnectedAccount) -> None:
    poll = {"choices": ["Oak", "Elm"], "duration_minutes": 60}
    mastodon = factories.AccountFactory(workspace=workspace, platform="mastodon", external_id="7")
    targets = (
        TargetInput("bluesky", account.id, "https://example.com " * 99),
        TargetInput("mastodon", mastodon.id, options={"poll": poll}),
    )
    validation = validate_post(caller=system_caller(workspace.id), post=PostInput("Which bench?", targets))
    declared = Serializer.to_representation(shared_serializer_instance(ValidationSerializer), validation)
    assert validation.as_json() == declared
    assert (list(validation.as_json()), list(validation.as_json()["targets"][0])) == (
        list(declared),
        list(declared["targets"][0]),
    )
    assert (validation.valid, declared["targets"][1]["poll"]["choices"]) == (False, ["Oak", "Elm"])
