"""The service as people meet it: a real browser in front of the running service."""

from __future__ import annotations
