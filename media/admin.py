"""The Django admin tables of media assets, their uses in posts, pending media files, and the used media quotas."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller
from config.pages.admin_search import DIGEST
from media.models import MediaAsset, MediaUsage, MediaUse, PendingFile
from media.services import delete_media


@admin.register(MediaAsset)
class MediaAssetAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "filename", "size_bytes", "workspace", "scan_status", "status", "created_at")
    list_filter = ("status", "kind", WaitingJobFilter)
    list_select_related = ("workspace",)
    indexed_lookups = {"wrk": "workspace_id"}
    unindexed_lookups = {DIGEST: "sha256"}
    actions = ("delete_assets",)

    @admin.action(description=_("Delete"), permissions=["operate"])
    @requires_confirmation(
        _("The files are deleted for good and their links stop working. Assets used by unfinished posts are not deleted.")
    )
    def delete_assets(self, request: HttpRequest, queryset: QuerySet[MediaAsset]) -> None:
        self.run_action_for_each_row(
            request,
            queryset.select_related("workspace"),
            "media.delete",
            lambda asset: delete_media(caller=signed_in_operator_caller(request, asset.workspace), media_id=asset.pk),
            gettext("Deleted"),
        )


@admin.register(MediaUse)
class MediaUseAdmin(ReadOnlyAdmin):
    list_display = ("holder_id", "media")
    list_select_related = ("media",)
    indexed_lookups = {"pgr": "holder_id", "med": "media_id"}


@admin.register(PendingFile)
class PendingFileAdmin(ReadOnlyAdmin):
    list_display = ("storage_key", "size_bytes", "abandoned", "created_at")
    ordering = ("created_at",)


@admin.register(MediaUsage)
class MediaUsageAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "used_bytes")
    list_select_related = ("workspace",)
    ordering = ("-used_bytes",)
    indexed_lookups = {"wrk": "workspace_id"}
