"""API serializers of operations that change several scheduled or missed posts: requests and previews."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import dry_run_serializer_class
from posts.serializers.responses import PostGroupsEnvelope

MAX_DAYS = 366
MAX_POSTS = 100
FIELDS_OF_ACTION = {"shuffle": {"seed"}, "move": {"days", "hours", "minutes"}, "skip_week": {"week"}}
FIELDS_OF_ACTIONS = frozenset().union(*FIELDS_OF_ACTION.values())


class UpdateQueueSerializer(WriteBody):
    """The API request to change the queue of an account: the posts that are scheduled to it."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    connected_account_id = fields.Identifier("acc")
    action = fields.Choice(
        choices=list(FIELDS_OF_ACTION),
        help_text="shuffle: the posts change their times with each other. move: all move by `days`, `hours` and `minutes`. "
        "skip_week: the posts of a week take the next free slots after it.",
    )
    post_group_ids = fields.StrictList(
        child=fields.Identifier("pgr"), required=False, min_length=1, max_length=MAX_POSTS, help_text="Only these posts."
    )
    after = fields.Timestamp(required=False, help_text="Only posts at or after this time.")
    before = fields.Timestamp(required=False, help_text="Only posts before this time.")
    seed = fields.Integer(required=False, min_value=0, max_value=2**31 - 1, help_text="Another number, another order.")
    days = fields.Integer(
        required=False,
        min_value=-MAX_DAYS,
        max_value=MAX_DAYS,
        help_text="The time of day of the workspace's time zone stays, also if the clocks change.",
    )
    hours = fields.Integer(required=False, min_value=-MAX_DAYS * 24, max_value=MAX_DAYS * 24)
    minutes = fields.Integer(required=False, min_value=-MAX_DAYS * 24 * 60, max_value=MAX_DAYS * 24 * 60)
    week = fields.Date(
        required=False, help_text="A day of the week that is skipped, from Monday on. Default: a day of this week."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        action = attrs["action"]
        if others := (attrs.keys() & FIELDS_OF_ACTIONS) - FIELDS_OF_ACTION[action]:
            message = f"The action {action} does not take this."
            raise serializers.ValidationError({name: serializers.ErrorDetail(message, "not_allowed") for name in others})
        if action == "move" and not any(attrs.get(name) for name in FIELDS_OF_ACTION["move"]):
            raise serializers.ValidationError({"days": serializers.ErrorDetail("Say by how much to move.", "required")})
        if "week" in attrs and not 1 < attrs["week"].year < 9999:
            raise serializers.ValidationError({"week": serializers.ErrorDetail("This week is too far away.", "invalid")})
        return attrs


class RetryMissedSerializer(WriteBody):
    """The API request to send several missed posts now."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    post_group_ids = fields.StrictList(
        child=fields.Identifier("pgr"),
        required=False,
        min_length=1,
        max_length=MAX_POSTS,
        help_text="Default: the newest 100 that have missed a time in the last seven days.",
    )


@extend_schema_serializer(component_name="MovedPost")
class TimeBeforeAndAfterMoveSerializer(serializers.Serializer):
    """The API representation of a post that a queue change would move: its target's time before and after the move."""

    post_group_id = serializers.CharField()
    scheduled_at_before = serializers.DateTimeField()
    slot_before = serializers.BooleanField(help_text="Whether it holds a slot now.")
    scheduled_at = serializers.DateTimeField()
    slot = serializers.BooleanField(help_text="Whether it would hold a slot.")


class MovedPostsSerializer(serializers.Serializer):
    """The API representation of all posts that a change of a queue would move, in the order of their times now."""

    moves = TimeBeforeAndAfterMoveSerializer(many=True)


UpdateQueuePreview = dry_run_serializer_class(
    "PostQueueUpdate", request=UpdateQueueSerializer, would_update=MovedPostsSerializer
)
RetryMissedPreview = dry_run_serializer_class(
    "PostMissedRetry", request=RetryMissedSerializer, would_update=PostGroupsEnvelope
)
