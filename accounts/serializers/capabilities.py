"""API serializers of the capabilities of platforms, of connected accounts and of the service."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from accounts.platforms.types import Capabilities

JSON_SCHEMA = {"type": "object", "description": "A JSON Schema.", "additionalProperties": True}


@extend_schema_field(JSON_SCHEMA)
class JSONSchemaField(serializers.JSONField):
    """A serializer field for the JSON Schemas in capabilities (of options, of credentials), returned unchanged."""


class TextCapabilitiesSerializer(serializers.Serializer):
    max_length = serializers.IntegerField()
    max_length_with_media = serializers.IntegerField(
        allow_null=True, help_text="The limit of a text that goes out with media, where that is another one."
    )
    max_length_with_images = serializers.IntegerField(
        allow_null=True, help_text="The limit with images alone, where it differs from that with other media."
    )
    max_length_with_poll = serializers.IntegerField(
        allow_null=True, help_text="The limit of a text that is the question of a poll, where that is another one."
    )
    counted_as = serializers.CharField()
    url_length = serializers.IntegerField(allow_null=True)


class DocumentCapabilitiesSerializer(serializers.Serializer):
    mime_types = serializers.ListField(child=serializers.CharField())
    max_bytes = serializers.IntegerField()
    max_count = serializers.IntegerField()


class ImageCapabilitiesSerializer(DocumentCapabilitiesSerializer):
    max_pixels = serializers.IntegerField(allow_null=True)
    max_side_sum = serializers.IntegerField(allow_null=True, help_text="Width and height together, in pixels.")
    min_ratio = serializers.FloatField(allow_null=True, help_text="Width through height.")
    max_ratio = serializers.FloatField(allow_null=True)


class VideoCapabilitiesSerializer(DocumentCapabilitiesSerializer):
    min_duration_seconds = serializers.IntegerField(allow_null=True)
    max_duration_seconds = serializers.IntegerField(allow_null=True)


class MediaCapabilitiesSerializer(serializers.Serializer):
    max_count = serializers.IntegerField()
    max_total_bytes = serializers.IntegerField(allow_null=True, help_text="Of all files of a post together.")
    mixed = serializers.BooleanField(help_text="Whether a post may hold media of several kinds.")
    required = serializers.BooleanField(  # type: ignore[assignment]
        help_text="Whether a post of text alone is impossible."
    )
    images = ImageCapabilitiesSerializer(allow_null=True)
    gifs = ImageCapabilitiesSerializer(allow_null=True, help_text="Null: a GIF is an image like any other.")
    videos = VideoCapabilitiesSerializer(allow_null=True)
    documents = DocumentCapabilitiesSerializer(allow_null=True)
    alt_text_max_length = serializers.IntegerField(allow_null=True)
    none_because = serializers.CharField(
        help_text="Why this account takes no media, where other accounts of the platform do; else empty."
    )


class ThreadCapabilitiesSerializer(serializers.Serializer):
    max_segments = serializers.IntegerField(help_text="How many posts a thread may have, the first one included.")
    distinct = serializers.BooleanField(help_text="Whether the platform refuses a segment that repeats another.")
    each_billed = serializers.BooleanField(help_text="Whether each segment costs as much as a post.")
    unproven = serializers.CharField(
        allow_blank=True,
        help_text="A sentence for people: why a thread may fail on this platform, where no thread has been published there "
        "yet. Empty where threads are known to go out.",
    )


class PollCapabilitiesSerializer(serializers.Serializer):
    """The API representation of a platform's capabilities for polls; the text of the post is the poll's question."""

    min_choices = serializers.IntegerField()
    max_choices = serializers.IntegerField()
    max_choice_length = serializers.IntegerField()
    counted_as = serializers.CharField(help_text="The unit of max_choice_length.")
    min_duration_minutes = serializers.IntegerField()
    max_duration_minutes = serializers.IntegerField()
    duration_step_minutes = serializers.IntegerField(help_text="A duration is a multiple of it.")
    open_ended = serializers.BooleanField(help_text="Whether duration_minutes may be left out, so that the poll stays open.")
    multiple = serializers.BooleanField(
        source="allows_multiple_answers", help_text="Whether a voter may be let choose several answers."
    )
    distinct = serializers.BooleanField(help_text="Whether a choice that repeats another is refused.")
    with_media = serializers.BooleanField(help_text="Whether the post may carry media as well.")


@extend_schema_serializer(component_name="PublishingCapabilities")
class RetrySafetySerializer(serializers.Serializer):
    """The API representation of a platform's capability `publishing`: whether publishing may safely be repeated."""

    retry_safety = serializers.ChoiceField(choices=["idempotent", "verifiable", "at_most_once"])


NOT_POSSIBLE_HELP_TEXT = "Sentences for people: what they might expect of the platform, and cannot have at this service."


@extend_schema_serializer(component_name="Capabilities")
class PlatformCapabilitiesSerializer(serializers.Serializer):
    """The API representation of a platform's capabilities: what it accepts in posts."""

    text = TextCapabilitiesSerializer()
    media = MediaCapabilitiesSerializer()
    features = serializers.ListField(child=serializers.CharField())
    link_preview = serializers.ChoiceField(
        choices=["platform", "service", "options", "none"],
        help_text="Who makes the preview of a link in the text: the platform, this service (see the option `link_card`), "
        "the post's own options, or nobody.",
    )
    not_possible = serializers.ListField(child=serializers.CharField(), help_text=NOT_POSSIBLE_HELP_TEXT)
    poll = PollCapabilitiesSerializer(allow_null=True, help_text="Null: the platform has no polls for this service.")
    options = JSONSchemaField()
    thread = ThreadCapabilitiesSerializer(
        allow_null=True, help_text="What a thread may be (see the option `thread`). Null: a post is one post."
    )
    publishing = RetrySafetySerializer()

    def to_representation(self, instance: Capabilities) -> dict[str, Any]:
        shown = {
            "text": instance.text,
            "media": asdict(instance.media),
            "features": instance.features,
            "link_preview": instance.link_preview,
            "not_possible": instance.not_possible,
            "poll": instance.poll,
            "options": instance.options,
            "thread": instance.thread,
            "publishing": {"retry_safety": instance.retry_safety},
        }
        return super().to_representation(shown)


class AccountCapabilitiesSerializer(serializers.Serializer):
    account_id = serializers.CharField()
    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    capabilities = PlatformCapabilitiesSerializer()


class ApplicationSetupSerializer(serializers.Serializer):
    """The API representation of an OAuth application that the operator registers at a platform, in the capabilities."""

    connects = serializers.CharField(help_text="Which accounts it opens.")
    portal = serializers.CharField(help_text="Where it is registered.")
    redirect_uri = serializers.CharField(help_text="The redirect address that is registered for it.")
    products = serializers.ListField(child=serializers.CharField(), help_text="What is added or switched on there.")
    scopes = serializers.ListField(
        child=serializers.CharField(), help_text="What owners are asked for, unless a setting names other scopes."
    )
    settings = serializers.ListField(child=serializers.CharField(), help_text="They take its id and its secret.")
    more_settings = serializers.ListField(child=serializers.CharField(), help_text="They change how it is used.")
    review = serializers.CharField(help_text="What the platform checks before everybody may use it; empty for nothing.")
    without_review = serializers.CharField(help_text="What is possible without that.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="Its costs and limits.")


class OperatorSetupSerializer(serializers.Serializer):
    """The API representation of what account owners and the operator must set up before accounts can be connected."""

    owner_brings = serializers.CharField(help_text="What the owner of an account brings.")
    applications = ApplicationSetupSerializer(
        many=True, help_text="What the operator registers; empty where nothing has to be registered."
    )


@extend_schema_serializer(component_name="AccountConnection")
class ConnectionMethodSerializer(serializers.Serializer):
    provider = serializers.ChoiceField(choices=list(PLATFORMS))
    method = serializers.ChoiceField(choices=ConnectedAccount.Method.choices)
    available = serializers.BooleanField()
    reason = serializers.CharField(required=False, help_text="Why it is not available.")
    credentials_schema = JSONSchemaField(required=False)
    not_possible = serializers.ListField(child=serializers.CharField(), help_text=NOT_POSSIBLE_HELP_TEXT)
    operator_setup = OperatorSetupSerializer()


@extend_schema_serializer(component_name="BillingCapabilities")
class ServiceBillingSerializer(serializers.Serializer):
    """The API representation of the service's billing in its capabilities: whether workspaces pay, and how."""

    mode = serializers.ChoiceField(choices=["free_beta", "paid"])
    checkout_available = serializers.BooleanField()
    portal_available = serializers.BooleanField()
    available_plans = serializers.ListField(child=serializers.ChoiceField(choices=["payg", "pro", "scale"]))


class ServiceCapabilitiesSerializer(serializers.Serializer):
    """The API representation of this service's capabilities: how each platform can be connected, and the billing."""

    account_connections = ConnectionMethodSerializer(many=True)
    billing = ServiceBillingSerializer()
