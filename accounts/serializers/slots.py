"""API serializers of the slots (weekly publishing times) of connected accounts."""

from __future__ import annotations

import re
from typing import Any

from rest_framework import serializers

from accounts.slots import MAX_SLOTS, WEEKDAYS
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import StrictSerializer, dry_run_serializer_class

_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


class TimeOfDayField(fields.Text):
    """A serializer field for the time of day of a slot, such as 09:30."""

    pattern = f"^({_TIME.pattern})$"

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if not _TIME.fullmatch(value):
            raise serializers.ValidationError("Must be a time of day such as 09:30.", code="invalid")
        return value


class SlotInputSerializer(StrictSerializer):
    """The body of a request that adds a slot: a weekly time at which queued posts of the account are published."""

    weekday = fields.Choice(choices=list(WEEKDAYS))
    time = TimeOfDayField(help_text="Such as 09:30, in the time zone of the slots.")


class UpdateSlotsSerializer(WriteBody):
    """The body of the API request to replace all slots of an account."""

    timezone = fields.Timezone(help_text="The IANA time zone of the slots.")
    slots = fields.StrictList(child=SlotInputSerializer(), max_length=MAX_SLOTS)


class SlotSerializer(serializers.Serializer):
    weekday = serializers.ChoiceField(choices=list(WEEKDAYS))
    time = serializers.CharField()


class SlotsSerializer(serializers.Serializer):
    """The API representation of an account's slots."""

    timezone = serializers.CharField(source="slot_timezone", allow_null=True, help_text="Null before the slots are set.")
    slots = SlotSerializer(many=True)


class SlotsEnvelope(serializers.Serializer):
    slots = SlotsSerializer()


UpdateSlotsPreview = dry_run_serializer_class("SlotsUpdate", request=UpdateSlotsSerializer, would_update=SlotsSerializer)
