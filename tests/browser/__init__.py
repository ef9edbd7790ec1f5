"""Tests of the dashboard in a real browser, against the running service."""

from __future__ import annotations
