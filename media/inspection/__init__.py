"""What an upload is, by its bytes alone, and the position data taken out of it. Names and claims play no role here."""

from __future__ import annotations

from media.inspection.inspected import Inspected
from media.inspection.inspecting import inspect, remove_position
from media.inspection.sniffing import sniff

__all__ = ["Inspected", "inspect", "remove_position", "sniff"]
