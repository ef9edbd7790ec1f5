"""The URLs of the media API, of stored media files, and of the dashboard's media pages."""

from __future__ import annotations

from django.urls import path

from media.dashboard import asset, library
from media.file_serving import serve_file
from media.views import MediaViewSet

urlpatterns = [
    path("media", MediaViewSet.as_view({"get": "list", "post": "create"})),
    path("media/<str:media_id>", MediaViewSet.as_view({"delete": "destroy"})),
    path("files/<str:media_id>/<str:filename>", serve_file),
    path("dashboard/workspaces/<str:workspace_id>/media", library.show_library_or_upload_files, name="media"),
    path(
        "dashboard/workspaces/<str:workspace_id>/media/describe",
        library.show_or_save_alt_texts_of_uploads,
        name="media-describe",
    ),
    path(
        "dashboard/workspaces/<str:workspace_id>/media/<str:media_id>", asset.show_asset_or_save_alt_text, name="media-asset"
    ),
    path("dashboard/workspaces/<str:workspace_id>/media/<str:media_id>/delete", asset.delete_asset, name="media-delete"),
]
