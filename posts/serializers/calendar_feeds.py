"""API serializers of calendar feeds."""

from __future__ import annotations

from rest_framework import serializers

from config.api.paging import page_serializer_class
from config.api.serializers import dry_run_serializer_class
from posts.models import CalendarFeed


class CalendarFeedSerializer(serializers.ModelSerializer):
    """The API representation of a calendar feed, without its secret address."""

    class Meta:
        model = CalendarFeed
        fields = ("id", "created_at")


class NewCalendarFeedSerializer(CalendarFeedSerializer):
    """The API representation of a new calendar feed, with its secret address."""

    url = serializers.CharField(allow_null=True, help_text="The secret address. Shown once; null in a replay.")

    class Meta(CalendarFeedSerializer.Meta):
        fields = ("id", "url", "created_at")  # type: ignore[assignment]


class CalendarFeedEnvelope(serializers.Serializer):
    calendar_feed = CalendarFeedSerializer()


class NewCalendarFeedEnvelope(serializers.Serializer):
    calendar_feed = NewCalendarFeedSerializer()


CalendarFeedPage = page_serializer_class("CalendarFeedPage", "calendar_feeds", CalendarFeedSerializer)
CreateCalendarFeedPreview = dry_run_serializer_class("CalendarFeedCreate", would_create=CalendarFeedSerializer)
DeleteCalendarFeedPreview = dry_run_serializer_class("CalendarFeedDelete", would_delete=CalendarFeedSerializer)
