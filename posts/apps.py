"""Django app for post groups: drafting, scheduling, approval and publishing."""

from __future__ import annotations

from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "posts"
