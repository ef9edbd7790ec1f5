"""Registers the admin's tables before tests are collected for each of them; the service does so when it loads its URLs."""

from __future__ import annotations

from django.contrib import admin

admin.autodiscover()
