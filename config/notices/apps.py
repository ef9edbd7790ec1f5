"""The Django app `notices`, which owns the tables of e-mail notices."""

from __future__ import annotations

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "config.notices"
    label = "notices"
