"""Date formats of the operators' console: times with seconds and time zone, for comparison with logs."""

from __future__ import annotations

DATETIME_FORMAT = "Y-m-d H:i:s e"
