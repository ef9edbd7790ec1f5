"""API views for posts."""

from __future__ import annotations

from posts.views.groups import PostViewSet

__all__ = ["PostViewSet"]
