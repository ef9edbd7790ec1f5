"""To the second and with the zone, as operators compare them with logs."""

from __future__ import annotations

DATETIME_FORMAT = "Y-m-d H:i:s e"
