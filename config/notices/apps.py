"""The Django app `notices`, to which the tables of e-mail notices belong."""

from __future__ import annotations

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "config.notices"
    label = "notices"
