"""API serializers of media assets and uploads."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.platforms.media_check import asset_issues
from accounts.platforms.registry import PLATFORMS, all_adapters
from accounts.serializers.issues import IssueSerializer
from config.api import fields
from config.api.operation import WriteBody
from config.api.paging import PageQuery, page_serializer_class
from config.api.serializers import StrictSerializer, dry_run_serializer_class
from config.api.uploads import Base64FileField, MultipartFileField, UploadRules
from config.outbound import DestinationNotAllowed, check_url_without_lookup
from media.file_types import SUFFIXES, max_upload_bytes_by_first_bytes
from media.links import signed_file_url
from media.models import MediaAsset

MAX_ALT_TEXT = 10_000  # characters


class SourceUrlField(fields.Text):
    """The API field for the URL from which to fetch a media upload; only the format of the URL is checked here.

    Each connection checks the IP address.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=2048, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        try:
            check_url_without_lookup(url)
        except DestinationNotAllowed as error:
            raise serializers.ValidationError(
                f"Files cannot be fetched from this URL: {error.reason}", code="not_allowed"
            ) from error
        return url


class JsonUploadSerializer(WriteBody):
    """The API request for a media upload in JSON: the file in base64, or a URL from which to fetch it."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    filename = fields.Text(required=False, allow_blank=True, max_length=1024, help_text="The file's display name.")
    alt_text = fields.Text(
        required=False, allow_blank=True, max_length=MAX_ALT_TEXT, help_text="What it shows, for who cannot see it."
    )
    content_base64 = Base64FileField(required=False, source="upload", help_text="The file in base64, at most 20 MB.")
    source_url = SourceUrlField(required=False, help_text="A public https URL, fetched within 20 s.")

    def to_internal_value(self, data: Any) -> Any:
        given = [name for name in ("content_base64", "source_url") if isinstance(data, dict) and name in data]
        if len(given) == 2:
            message, code = "Give content_base64 or source_url, not both.", "conflict"
            raise serializers.ValidationError({"source_url": serializers.ErrorDetail(message, code)})
        value = super().to_internal_value(data)
        if not given:
            message = "Give content_base64 or source_url, or send the file as a form."
            raise serializers.ValidationError({"content_base64": serializers.ErrorDetail(message, "required")})
        return value


@extend_schema_serializer(component_name="UploadContent")
class UploadBase64Serializer(JsonUploadSerializer):
    """The API request for a media upload in JSON with the file in base64."""

    content_base64 = Base64FileField(source="upload", help_text="The file in base64, at most 20 MB.")
    source_url = None  # type: ignore[assignment]


class UploadFromUrlSerializer(JsonUploadSerializer):
    """The API request for a media upload from a URL."""

    content_base64 = None  # type: ignore[assignment]
    source_url = SourceUrlField(help_text="A public https URL, fetched within 20 s; at most 3 redirects are followed.")


class UploadFormSerializer(StrictSerializer):
    """The API request for a media upload as a multipart form, with its parts in any order."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    file = MultipartFileField(source="upload", help_text="The file; the part's filename becomes its display name.")
    alt_text = fields.Text(
        required=False, allow_blank=True, max_length=MAX_ALT_TEXT, help_text="What it shows, for who cannot see it."
    )
    dry_run = fields.FormBoolean(required=False, help_text="Return what would happen, without changing anything.")


MEDIA_UPLOAD_RULES = UploadRules(
    form_serializer=UploadFormSerializer,
    json_serializers=(UploadBase64Serializer, UploadFromUrlSerializer),
    mime_types=tuple(SUFFIXES),
    max_bytes_by_path=max_upload_bytes_by_first_bytes,
)


class ScanSerializer(serializers.Serializer):
    status = serializers.ChoiceField(choices=MediaAsset.ScanStatus.choices, source="scan_status")
    engine = serializers.CharField(
        source="scan_engine", help_text="The scanner and its version; empty if the file was not scanned."
    )


class PlatformFitSerializer(serializers.Serializer):
    """The API representation of a platform's check of a media asset: whether it is accepted, and the issues found."""

    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    ok = serializers.BooleanField(help_text="True if no issue is an error.")
    issues = IssueSerializer(many=True)


class MediaSerializer(serializers.ModelSerializer):
    """The API representation of a media asset."""

    scan = ScanSerializer(source="*")
    platforms = serializers.SerializerMethodField(help_text="The asset's issues at each platform that takes media.")
    url = serializers.SerializerMethodField(help_text="A signed URL of the file, which expires; null for a deleted asset.")
    thumbnail_url = serializers.SerializerMethodField(
        help_text="A signed URL of the thumbnail, which expires; null without one."
    )

    class Meta:
        model = MediaAsset
        fields: tuple[str, ...] = (
            "id",
            "workspace_id",
            "kind",
            "filename",
            "mime_type",
            "size_bytes",
            "sha256",
            "width",
            "height",
            "duration_ms",
            "alt_text",
            "scan",
            "platforms",
            "url",
            "thumbnail_url",
            "status",
            "created_at",
        )

    @extend_schema_field(PlatformFitSerializer(many=True))
    def get_platforms(self, asset: MediaAsset) -> list[dict[str, Any]]:
        fits = []
        for platform in all_adapters():
            rules = platform.capabilities.media
            if rules.max_count:
                issues = asset_issues(platform.name, rules, asset.media_info(), "file")
                ok = not any(issue.severity == "error" for issue in issues)
                fits.append({"platform": platform.name, "ok": ok, "issues": issues})
        return list(PlatformFitSerializer(fits, many=True).data)

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_url(self, asset: MediaAsset) -> str | None:
        return signed_file_url(asset) if asset.status == MediaAsset.Status.READY else None

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_thumbnail_url(self, asset: MediaAsset) -> str | None:
        shown = asset.thumbnail_key and asset.status == MediaAsset.Status.READY
        return signed_file_url(asset, thumbnail=True) if shown else None


@extend_schema_serializer(component_name="MediaToCreate")
class DryRunMediaSerializer(MediaSerializer):
    """The media asset in the response to an upload's dry run: as it would be created, without id and URLs."""

    url = thumbnail_url = None  # type: ignore[assignment]

    class Meta:
        model = MediaAsset
        fields = tuple(name for name in MediaSerializer.Meta.fields if name not in ("id", "url", "thumbnail_url"))


class MediaEnvelope(serializers.Serializer):
    media = MediaSerializer()


@extend_schema_serializer(component_name="UploadRequestShown")
class UploadRequestEchoSerializer(serializers.Serializer):
    """The request of a media upload as the API response to its dry run repeats it, without the file."""

    workspace_id = serializers.CharField()
    filename = serializers.CharField()
    alt_text = serializers.CharField()
    source_url = serializers.CharField(required=False)


class MediaQuery(PageQuery):
    workspace_id = fields.Identifier("wrk")


MediaPage = page_serializer_class("MediaPage", "media", MediaSerializer)
UploadMediaPreview = dry_run_serializer_class(
    "MediaUpload", request=UploadRequestEchoSerializer, would_create=DryRunMediaSerializer
)
DeleteMediaPreview = dry_run_serializer_class("MediaDelete", would_delete=MediaSerializer)
