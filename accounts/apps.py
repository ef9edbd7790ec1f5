"""Django app configuration of `accounts`: the connected accounts and the adapters of social platforms."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
