"""The German date format of the operators' console, with seconds and time zone, so that times match those in logs."""

from __future__ import annotations

DATETIME_FORMAT = "Y-m-d H:i:s e"
