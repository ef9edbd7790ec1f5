"""What billing shows over the API."""

from __future__ import annotations

from rest_framework import serializers


class SpendCapSerializer(serializers.Serializer):
    """SPEND_CAP: how a month stands, in cents. `cap_cents` and `remaining_cents` are null for agents without a cap."""

    cap_cents = serializers.IntegerField(allow_null=True)
    free_credit_cents = serializers.IntegerField()
    spent_cents = serializers.IntegerField(help_text="What published targets cost.")
    reserved_cents = serializers.IntegerField(help_text="What is held for targets that are not finished.")
    remaining_cents = serializers.IntegerField(allow_null=True)
    exceeded = serializers.BooleanField(help_text="More is spent and held than free credit and cap allow.")
