"""API serializers of series: posts that recur by a rule."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api import fields
from config.api.paging import PageQuery
from config.api.serializers import StrictSerializer, WriteBody, dry_run_serializer_class
from config.api.webhook_url import WebhookUrlField
from posts.models import Series
from posts.recurrence.rule import MAX_RULE_LENGTH
from posts.serializers.requests import MAX_MEDIA, MAX_TARGETS, MAX_TEXT, MediaInputSerializer, TargetInputSerializer
from posts.serializers.responses import AttachedMediaSerializer, CreatedBySerializer, TargetErrorSerializer
from posts.series_json import series_json
from posts.series_posts import MAX_TEXTS
from posts.series_selectors import upcoming_occurrences
from posts.services.series import MAX_EXDATES

SETTABLE_STATUSES = [Series.Status.ACTIVE.value, Series.Status.PAUSED.value]
RULE_HELP = (
    "An RFC 5545 rule such as `FREQ=WEEKLY;BYDAY=MO,WE`, of FREQ DAILY, WEEKLY, MONTHLY or YEARLY, with UNTIL in UTC, and "
    "with at most 24 occurrences a day."
)


class SeriesTargetSerializer(TargetInputSerializer):
    """A target in the API request to create or change a series; the series gives the time."""

    scheduled_at = None  # type: ignore[assignment]
    slot = None  # type: ignore[assignment]


class SeriesPostSerializer(StrictSerializer):
    """The post in the API request to create or change a series, as POST /posts takes it, without a time."""

    text = fields.Text(
        allow_blank=True,
        max_length=MAX_TEXT,
        help_text="`{n}` becomes the number of the post, and `{date}` its local date, such as 2027-01-31; in all texts.",
    )
    texts = fields.StrictList(
        child=fields.Text(max_length=MAX_TEXT),
        required=False,
        max_length=MAX_TEXTS,
        help_text="Further texts, used in turn after `text`, so that platforms do not refuse repetitions. No text may come "
        "again within 24 hours.",
    )
    targets = fields.StrictList(child=SeriesTargetSerializer(), min_length=1, max_length=MAX_TARGETS)
    media = fields.StrictList(child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA)
    webhook_url = WebhookUrlField(required=False, help_text="Receives the events of the posts.")
    metadata = fields.StringMap(required=False, help_text="Your own key-value notes on each post.")


def _exdates(**options: Any) -> serializers.Field:
    return fields.StrictList(
        child=fields.LocalTime(), required=False, max_length=MAX_EXDATES, help_text="Local times to leave out.", **options
    )


class CreateSeriesSerializer(WriteBody):
    """The API request to create a series: a post, and the rule by which it recurs."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    name = fields.Name(required=False)
    post = SeriesPostSerializer()
    starts_at = fields.LocalTime(help_text="The local time from which the rule holds. It gives the time of day.")
    timezone = fields.Timezone(help_text="The IANA time zone of all local times.")
    rrule = fields.Text(max_length=MAX_RULE_LENGTH, help_text=RULE_HELP)
    exdates = _exdates()


class UpdateSeriesSerializer(WriteBody):
    """The API request to change a series; omitted fields stay unchanged."""

    name = fields.Name(required=False)
    post = SeriesPostSerializer(required=False)
    rrule = fields.Text(required=False, max_length=MAX_RULE_LENGTH, help_text=RULE_HELP)
    exdates = _exdates()
    status = fields.Choice(choices=SETTABLE_STATUSES, required=False)
    apply_to_scheduled = fields.Boolean(
        required=False, help_text="Also change posts that are already scheduled, except those that were edited."
    )


class SkipOccurrenceSerializer(WriteBody):
    """The API request to leave out one occurrence of a series."""

    at = fields.Timestamp(help_text="The instant of the occurrence, as in `next`.")


class SeriesListQuery(PageQuery):
    """The query parameters of GET /series: the page, and the workspace whose series are listed."""

    workspace_id = fields.Identifier("wrk")


class StoredTargetSerializer(serializers.Serializer):
    platform = serializers.CharField()
    connected_account_id = serializers.CharField()
    text = serializers.CharField(allow_null=True)
    options = serializers.DictField()


class StoredPostSerializer(serializers.Serializer):
    """The API representation of the post that a series repeats: its content and accounts, without a time."""

    text = serializers.CharField()
    texts = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Further texts, used in turn after `text`, if any were given.",
    )
    targets = StoredTargetSerializer(many=True)
    media = AttachedMediaSerializer(many=True)
    webhook_url = serializers.CharField(allow_null=True)
    metadata = serializers.DictField(child=serializers.CharField())


class UpcomingOccurrenceSerializer(serializers.Serializer):
    at = serializers.DateTimeField()
    local = serializers.CharField(help_text="The local time that the rule names.")
    post_group_id = serializers.CharField(allow_null=True, help_text="The scheduled post, once it is made.")
    error = TargetErrorSerializer(allow_null=True, help_text="Why the post could not be scheduled; it is tried again.")


class SeriesSerializer(serializers.ModelSerializer):
    """The API representation of a series with its next occurrences, at most ten."""

    status = serializers.ChoiceField(choices=Series.Status.choices)
    exdates = serializers.ListField(child=serializers.CharField())
    post = StoredPostSerializer()
    next = UpcomingOccurrenceSerializer(many=True)
    made = serializers.IntegerField(help_text="The number of posts made so far.")
    cost_cents_each = serializers.IntegerField(help_text="What each post costs.")
    created_by = CreatedBySerializer()

    class Meta:
        model = Series
        fields = (
            *("id", "workspace_id", "name", "status", "timezone", "starts_at", "rrule", "exdates", "post", "next", "made"),
            *("cost_cents_each", "created_by", "created_at", "trace_id"),
        )

    def to_representation(self, series: Series) -> dict[str, Any]:
        return series_json(series, upcoming_occurrences(series))


class SeriesEnvelope(serializers.Serializer):
    series = SeriesSerializer()


class SeriesPageSerializer(serializers.Serializer):
    """The API response with a page of series, newest first."""

    series = SeriesSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


CreateSeriesPreview = dry_run_serializer_class("SeriesCreate", request=CreateSeriesSerializer, would_create=SeriesSerializer)
UpdateSeriesPreview = dry_run_serializer_class("SeriesUpdate", request=UpdateSeriesSerializer, would_update=SeriesSerializer)
EndSeriesPreview = dry_run_serializer_class("SeriesEnd", would_update=SeriesSerializer)
SkipOccurrencePreview = dry_run_serializer_class(
    "SeriesSkip", request=SkipOccurrenceSerializer, would_update=SeriesSerializer
)
