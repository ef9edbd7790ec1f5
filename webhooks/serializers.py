"""API serializers of webhook deliveries and signing secrets."""

from __future__ import annotations

from rest_framework import serializers

from config.api import fields
from config.api.paging import PageQuery, page_serializer_class
from config.api.serializers import dry_run_serializer_class
from webhooks.event_kinds import DELIVERED_KIND_CHOICES
from webhooks.models import Delivery, DeliveryStatus


class SigningSecretSerializer(serializers.Serializer):
    """The API representation of a workspace's webhook signing secret and of how it signs deliveries."""

    workspace_id = serializers.CharField()
    signing_secret = serializers.CharField(
        allow_null=True, help_text="The HMAC key, used exactly as shown; null in previews and replays of a rotation."
    )
    signature_header = serializers.CharField(help_text="The header with the value `t=<unix seconds>,v1=<hex>`.")
    signed_payload_format = serializers.CharField(help_text="The header's t, a dot, and the raw body.")
    algorithm = serializers.CharField()


RotateSigningSecretPreview = dry_run_serializer_class("SigningSecretRotate", would_update=SigningSecretSerializer)


class DeliverySerializer(serializers.ModelSerializer):
    """The API representation of a webhook event's delivery to one URL."""

    event = serializers.ChoiceField(choices=DELIVERED_KIND_CHOICES, source="event.kind", help_text="The event's kind.")
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    post_group_id = serializers.CharField(source="event.post_group_id")
    trace_id = serializers.CharField(source="event.trace_id")
    next_attempt_at = serializers.DateTimeField(source="due_at", allow_null=True)

    class Meta:
        model = Delivery
        fields = (
            "id",
            "event",
            "status",
            "post_group_id",
            "trace_id",
            "url",
            "attempts",
            "last_status_code",
            "last_error",
            "next_attempt_at",
            "created_at",
            "delivered_at",
        )


class DeliveryEnvelope(serializers.Serializer):
    delivery = DeliverySerializer()


DeliveryPage = page_serializer_class("DeliveryPage", "deliveries", DeliverySerializer)
ReplayDeliveryPreview = dry_run_serializer_class("DeliveryReplay", would_update=DeliverySerializer)


class DeliveriesQuery(PageQuery):
    workspace_id = fields.Identifier("wrk", help_text="The workspace of the deliveries.")
    status = fields.Choice(choices=DeliveryStatus.choices, required=False)
    post_group_id = fields.Identifier("pgr", required=False, help_text="Only deliveries for this post group.")
