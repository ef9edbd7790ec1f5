"""The Spanish date format of the operators' console, with seconds and time zone, so that it compares with logs."""

from __future__ import annotations

DATETIME_FORMAT = "Y-m-d H:i:s e"
