"""What callers write of post groups."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import PageQuery, StrictList, StrictSerializer
from config.api.webhook_url import WebhookUrl
from posts.states import GroupStatus

MAX_TARGETS, MAX_MEDIA, MAX_TEXT = 50, 20, 100_000


class OptionsField(serializers.DictField):
    """A target's options, as its platform's capabilities describe them."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.", code="wrong_type")
        return data


class TargetInputSerializer(StrictSerializer):
    """One account to post to."""

    platform = fields.Choice(choices=list(PLATFORMS))
    connected_account_id = fields.Identifier("acc")
    text = fields.Text(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_TEXT, help_text="Instead of the group's text."
    )
    options = OptionsField(required=False)


class MediaInputSerializer(StrictSerializer):
    """One asset of the media library."""

    media_id = fields.Identifier("med")
    alt_text = fields.Text(
        required=False, max_length=10_000, allow_blank=True, help_text="In this post, instead of the asset's own."
    )


class ContentSerializer(WriteBody):
    """What is posted where."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    text = fields.Text(allow_blank=True, max_length=MAX_TEXT)
    targets = StrictList(child=TargetInputSerializer(), min_length=1, max_length=MAX_TARGETS)
    media = StrictList(
        child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA, help_text="In the order of their showing."
    )


class ValidatePostSerializer(ContentSerializer):
    """Content to be checked."""

    dry_run = None  # type: ignore[assignment]


class CreatePostSerializer(ContentSerializer):
    """A post group to be made: a draft, scheduled, or published at once."""

    scheduled_at = fields.Timestamp(required=False, help_text="When it goes out; without it, now.")
    draft = fields.Boolean(required=False, help_text="Keep it as a draft; its scheduled_at is then only a plan.")
    webhook_url = WebhookUrl(required=False, help_text="Gets this group's events.")
    sandbox = fields.Boolean(required=False, help_text="Go the whole way at the simulator instead of the platforms.")
    wait = fields.Boolean(required=False, help_text="Answer when the group is finished, 25 s later at the most.")
    metadata = fields.StringMap(required=False, help_text="Your own notes; they come back in answers and events.")


class RetryPostSerializer(WriteBody):
    """How failed targets are sent again."""

    workspace_id = fields.Identifier("wrk", required=False)
    webhook_url = WebhookUrl(required=False, help_text="Gets the group's events from now on.")
    scheduled_at = fields.Timestamp(required=False, help_text="When they go out; without it, now.")
    wait = fields.Boolean(required=False)
    include_unconfirmed = fields.Boolean(required=False, help_text="Also send what may be out already.")


class BatchedPostSerializer(CreatePostSerializer):
    """One post of a batch."""

    dry_run = None  # type: ignore[assignment]
    wait = None  # type: ignore[assignment]


class CreateBatchSerializer(WriteBody):
    """Several post groups, all or none of which are made."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    posts = StrictList(child=BatchedPostSerializer(), min_length=1, max_length=100)


class UpdatePostSerializer(WriteBody):
    """What is to change of a post group; what is not named stays."""

    text = fields.Text(required=False, allow_blank=True, max_length=MAX_TEXT)
    targets = StrictList(child=TargetInputSerializer(), required=False, min_length=1, max_length=MAX_TARGETS)
    media = StrictList(child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA)
    scheduled_at = fields.Timestamp(required=False, allow_null=True, help_text="Null takes a draft's time away.")


class ConfirmPostSerializer(WriteBody):
    """The release of a group that somebody has read."""

    content_version = fields.Integer(min_value=1, help_text="The version that was read.")
    scheduled_at = fields.Timestamp(
        required=False, help_text="When it goes out; default: the group's own time, or now."
    )


class RejectPostSerializer(WriteBody):
    """Why a group is turned down."""

    reason = fields.Text(required=False, max_length=1000)


class ResolvePostSerializer(WriteBody):
    """What somebody who looked has seen: a permalink, or `published: false`."""

    target_id = fields.Identifier("tgt")
    permalink = fields.Text(required=False, max_length=2048, help_text="Where the post is.")
    published = fields.Boolean(required=False, help_text="Send false when the post is not out.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        permalink = attrs.get("permalink")
        # Neither is no answer: nothing is called unpublished, and its money freed, by leaving something out.
        if attrs.get("published", True) is not (permalink is not None):
            message = "Send the permalink of a post that is out, or `published: false`."
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
