"""Describes the authentication of /ops by ADMIN_TOKEN in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class AdminTokenScheme(OpenApiAuthenticationExtension):
    target_class = "config.console.ops.authentication.OperatorAuthentication"
    name = "adminToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "The operator's token, the setting ADMIN_TOKEN. It is valid only for /ops and /metrics.",
        }
