"""Routes of post groups."""

from __future__ import annotations

from django.urls import path

from posts.views import PostViewSet

urlpatterns = [
    path("posts", PostViewSet.as_view({"get": "list", "post": "create"})),
    path("posts/batch", PostViewSet.as_view({"post": "create_batch"})),
    path("posts/search", PostViewSet.as_view({"get": "search"})),
    path("posts/validate", PostViewSet.as_view({"post": "validate"})),
    path(
        "posts/<str:post_group_id>",
        PostViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "cancel"}),
    ),
    path("posts/<str:post_group_id>/retry", PostViewSet.as_view({"post": "retry"})),
    path("posts/<str:post_group_id>/confirm", PostViewSet.as_view({"post": "confirm"})),
    path("posts/<str:post_group_id>/reject", PostViewSet.as_view({"post": "reject"})),
    path("posts/<str:post_group_id>/resolve", PostViewSet.as_view({"post": "resolve"})),
]
