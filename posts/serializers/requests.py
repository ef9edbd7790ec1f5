"""API serializers for the bodies and query parameters of requests about posts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from config.api import fields
from config.api.operation import WriteBody
from config.api.paging import PageQuery
from config.api.serializers import StrictSerializer
from config.api.webhook_url import WebhookUrlField
from posts.states import GroupStatus

MAX_TARGETS, MAX_MEDIA, MAX_TEXT = 50, 20, 100_000


class PlatformOptionsField(serializers.DictField):
    """A serializer field for a target's platform options; their JSON Schema is part of the platform's capabilities."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.", code="wrong_type")
        return data


class TargetInputSerializer(StrictSerializer):
    """A target in bodies of API requests about posts: an account, optionally with its own text and options."""

    platform = fields.Choice(choices=list(PLATFORMS))
    connected_account_id = fields.Identifier("acc")
    text = fields.Text(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_TEXT, help_text="Instead of the group's text."
    )
    options = PlatformOptionsField(required=False)
    scheduled_at = fields.Timestamp(required=False, help_text="When to publish to this account. Default: the group's time.")
    slot = fields.Choice(choices=["next"], required=False, help_text="Publish at the account's next free slot.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "slot" in attrs and "scheduled_at" in attrs:
            message = "Give either a time or a slot."
            raise serializers.ValidationError({"slot": serializers.ErrorDetail(message, "not_allowed")})
        return attrs


class MediaInputSerializer(StrictSerializer):
    """A media asset in bodies of API requests about posts, with an optional alt text."""

    media_id = fields.Identifier("med")
    alt_text = fields.Text(
        required=False, max_length=10_000, allow_blank=True, help_text="In this post, instead of the asset's own."
    )


class ContentSerializer(WriteBody):
    """The content of a post in bodies of API requests: text, targets and media."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    text = fields.Text(allow_blank=True, max_length=MAX_TEXT)
    targets = fields.StrictList(child=TargetInputSerializer(), min_length=1, max_length=MAX_TARGETS)
    media = fields.StrictList(
        child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA, help_text="Shown in this order."
    )


class ValidatePostSerializer(ContentSerializer):
    """The body of the API request to validate a post's content without creating a post."""

    dry_run = None  # type: ignore[assignment]


class CreatePostSerializer(ContentSerializer):
    """The body of the API request to create a post group: as a draft, scheduled, or published at once."""

    scheduled_at = fields.Timestamp(required=False, help_text="When to publish. Default: now.")
    draft = fields.Boolean(required=False, help_text="Save as a draft. A draft's scheduled_at is only a plan.")
    webhook_url = WebhookUrlField(required=False, help_text="Receives the events of this group.")
    sandbox = fields.Boolean(required=False, help_text="Publish to the simulator instead of the platforms.")
    wait = fields.Boolean(required=False, help_text="Respond when the group is finished, after 25 s at most.")
    metadata = fields.StringMap(required=False, help_text="Your own key-value notes, returned in responses and events.")


class RetryPostSerializer(WriteBody):
    """The body of the API request to retry the failed targets of a post group."""

    workspace_id = fields.Identifier("wrk", required=False)
    webhook_url = WebhookUrlField(required=False, help_text="Receives the events of the group from now on.")
    scheduled_at = fields.Timestamp(required=False, help_text="When to publish. Default: now.")
    wait = fields.Boolean(required=False)
    include_unconfirmed = fields.Boolean(required=False, help_text="Also retry targets that may already be published.")


class BatchedPostSerializer(CreatePostSerializer):
    """One post in the body of the API request that creates a batch of posts."""

    dry_run = None  # type: ignore[assignment]
    wait = None  # type: ignore[assignment]


class CreateBatchSerializer(WriteBody):
    """The body of the API request to create several post groups in one transaction."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    posts = fields.StrictList(child=BatchedPostSerializer(), min_length=1, max_length=100)


class UpdatePostSerializer(WriteBody):
    """The body of the API request to change a post group; omitted fields stay unchanged."""

    text = fields.Text(required=False, allow_blank=True, max_length=MAX_TEXT)
    targets = fields.StrictList(child=TargetInputSerializer(), required=False, min_length=1, max_length=MAX_TARGETS)
    media = fields.StrictList(child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA)
    scheduled_at = fields.Timestamp(required=False, allow_null=True, help_text="Null removes a draft's time.")


class ConfirmPostSerializer(WriteBody):
    """The body of the API request to approve a post group; `content_version` is the version that a person has read."""

    content_version = fields.Integer(min_value=1, help_text="The version that was read.")
    scheduled_at = fields.Timestamp(required=False, help_text="When to publish. Default: the group's own time, or now.")


class RejectPostSerializer(WriteBody):
    """The body of the API request to reject a post group that awaits approval, with an optional reason."""

    reason = fields.Text(required=False, max_length=1000)


class ResolvePostSerializer(WriteBody):
    """The body of the API request that resolves an unconfirmed target: its permalink, or `published: false`."""

    target_id = fields.Identifier("tgt")
    permalink = fields.Text(required=False, max_length=2048, help_text="The address of the published post.")
    published = fields.Boolean(required=False, help_text="Send false if the post was not published.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        permalink = attrs.get("permalink")
        # An empty body must not mean "not published": that would release the money by omission.
        if attrs.get("published", True) is not (permalink is not None):
            message = "Send the permalink of the published post, or `published: false`."
            raise serializers.ValidationError({"permalink": serializers.ErrorDetail(message, "invalid")})
        if permalink is not None and not permalink.startswith(("https://", "http://")):
            raise serializers.ValidationError({"permalink": serializers.ErrorDetail("Must be a URL.", "invalid")})
        return attrs


class PostsOnDayQuery(PageQuery):
    workspace_id = fields.Identifier("wrk")
    date = fields.Date(help_text="A local calendar day, such as 2027-01-31.")
    timezone = fields.Timezone(help_text="The IANA time zone whose day it is.")
    platform = fields.Choice(choices=list(PLATFORMS), required=False)
    account_id = fields.Identifier("acc", required=False)


class SearchPostsQuery(PageQuery):
    workspace_id = fields.Identifier("wrk")
    status = fields.Choice(choices=GroupStatus.choices, required=False)
    platform = fields.Choice(choices=list(PLATFORMS), required=False)
    account_id = fields.Identifier("acc", required=False)
    agent_id = fields.Identifier("agt", required=False)
    created_after = fields.Timestamp(required=False)
    created_before = fields.Timestamp(required=False)
    q = fields.Text(
        source="text",
        required=False,
        max_length=200,
        help_text="Only posts whose text contains this, in any case. Each page searches 1,000 posts, so it may be empty.",
    )
