"""Inspection of uploaded media files: detects and checks the file type from the bytes, and removes geolocation metadata.

File names and declared content types are ignored.
"""

from __future__ import annotations

from media.inspection.inspected import Inspected
from media.inspection.inspecting import inspect, remove_position
from media.inspection.sniffing import sniff

__all__ = ["Inspected", "inspect", "remove_position", "sniff"]
