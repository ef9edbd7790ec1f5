"""Serializer fields for uploaded files (config/api/uploads.py)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.api.errors import PayloadTooLarge
from config.api.fields import Boolean
from config.api.upload_limits import MAX_BASE64_FILE_BYTES
from config.api.uploads import Upload


class FormBoolean(Boolean):
    """`true` or `false` in a multipart form, in any case: generated Python clients send True and False."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"true": True, "false": False}.get(data.lower(), data))


@extend_schema_field({"type": "string", "format": "binary"})
class UploadedFile(serializers.Field):
    """The uploaded file of a multipart form."""

    def to_internal_value(self, data: Any) -> Upload:
        if not isinstance(data, Upload):
            raise serializers.ValidationError("Must be a file.", code="wrong_type")
        return data


@extend_schema_field(
    {
        "type": "string",
        "contentEncoding": "base64",
        "pattern": "^[A-Za-z0-9+/]+={0,2}$",
        "maxLength": 4 * -(-MAX_BASE64_FILE_BYTES // 3),
    }
)
class Base64File(serializers.Field):
    """A file in a JSON body: base64 with padding and without line breaks (RFC 4648, section 4); converted to an Upload."""

    def to_internal_value(self, data: Any) -> Upload:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.", code="wrong_type")
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise serializers.ValidationError("Must be base64, padded and without blanks.", code="invalid") from error
        if not content:
            raise serializers.ValidationError("Must not be empty.", code="blank")
        if len(content) > MAX_BASE64_FILE_BYTES:
            raise PayloadTooLarge(
                f"A file in base64 may have {MAX_BASE64_FILE_BYTES:,} bytes.", suggested_action="Send it as a form."
            )
        upload: Upload = self.context["spool"].keep(content, "")
        return upload
