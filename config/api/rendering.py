"""The renderer of API responses, which writes JSON with orjson, several times faster than the standard library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import JSONRenderer

# Dates and dataclasses have no format of their own here: REST framework's encoder writes dates, and refuses the others.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class FastJsonRenderer(JSONRenderer):
    """Renders JSON with orjson; REST framework renders what orjson cannot, such as numbers of more than 64 bits."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if data is not None and "indent" not in (accepted_media_type or ""):
            try:
                return orjson.dumps(data, option=_OPTIONS)
            except orjson.JSONEncodeError:
                pass
        rendered: bytes = super().render(data, accepted_media_type, renderer_context)
        return rendered
