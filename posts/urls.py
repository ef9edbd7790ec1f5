"""Routes of post groups."""

from __future__ import annotations

from django.urls import path

from posts.views import PostViewSet

urlpatterns = [
    path("posts", PostViewSet.as_view({"post": "create"})),
    path("posts/validate", PostViewSet.as_view({"post": "validate"})),
    path("posts/<str:post_group_id>", PostViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("posts/<str:post_group_id>/retry", PostViewSet.as_view({"post": "retry"})),
]
