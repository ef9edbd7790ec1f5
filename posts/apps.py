"""Django app configuration of `posts`: drafting, scheduling, approving and publishing post groups."""

from __future__ import annotations

from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "posts"
