"""The media library in the operators' console."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from config.api.admin import ReadOnlyAdmin
from config.api.caller import system_caller
from config.api.errors import ApiError
from media.models import MediaAsset, MediaUse
from media.services import delete_media


@admin.register(MediaAsset)
class MediaAssetAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "filename", "size_bytes", "workspace", "scan_status", "status", "created_at")
    list_filter = ("status", "kind", "scan_status")
    list_select_related = ("workspace",)
    search_fields = ("=id", "=workspace__id", "=sha256")
    actions = ("delete_assets",)

    def has_take_down_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    @admin.action(description="Delete the selected assets that no unfinished post uses", permissions=["take_down"])
    def delete_assets(self, request: HttpRequest, queryset: QuerySet[MediaAsset]) -> None:
        for asset in queryset:
            try:
                delete_media(caller=system_caller(asset.workspace_id), media_id=asset.pk)
                self.message_user(request, f"Deleted {asset.pk}.", messages.SUCCESS)
            except ApiError as error:
                self.message_user(request, f"Kept {asset.pk}: {error.message}", messages.WARNING)


@admin.register(MediaUse)
class MediaUseAdmin(ReadOnlyAdmin):
    list_display = ("holder_id", "media")
    list_select_related = ("media",)
    search_fields = ("=holder_id", "=media__id")
