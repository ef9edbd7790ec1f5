"""Post groups and their publication."""

from __future__ import annotations

from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "posts"
