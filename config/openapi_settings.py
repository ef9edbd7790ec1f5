"""The settings of drf-spectacular, which generates the OpenAPI document: title, hooks and names of enums."""

from __future__ import annotations

from typing import Any


def openapi_settings(*, base_url: str, version: str) -> dict[str, Any]:
    """Return the settings of drf-spectacular (SPECTACULAR_SETTINGS) for the OpenAPI document."""
    return {
        "TITLE": "Social Publishing Service",
        "DESCRIPTION": "Publish social posts from agents, scripts and dashboards through one HTTP/JSON API.",
        "VERSION": version,
        "OAS_VERSION": "3.1.0",
        "LICENSE": {"name": "MIT", "identifier": "MIT"},
        "SERVERS": [{"url": base_url}],
        "SERVE_INCLUDE_SCHEMA": False,
        "COMPONENT_SPLIT_REQUEST": False,
        "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
        "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
        "SORT_OPERATIONS": False,
        "SWAGGER_UI_DIST": "SIDECAR",
        "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
        "REDOC_DIST": "SIDECAR",
        "WEBHOOKS": "webhooks.openapi.OPENAPI_WEBHOOKS",
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "config.api.schema.finish_openapi_document",
        ],
        "ENUM_NAME_OVERRIDES": {
            "Scope": "config.api.scopes.SCOPE_CHOICES",
            "DefaultMode": "config.api.caller.AgentMode",
            "WorkspaceStatus": "config.api.caller.WorkspaceStatus",
            "AgentStatus": "agents.models.Agent.Status",
            "ApiKeyStatus": "agents.serializers.KEY_STATUSES",
            "AccountStatus": "accounts.models.ConnectedAccount.Status",
            "ConnectionMethod": "accounts.models.ConnectedAccount.Method",
            "Platform": "accounts.platforms.registry.PLATFORMS",
            "Plan": "billing.subscription_plans.SUBSCRIPTION_PLANS",
            "PostGroupStatus": "posts.states.GroupStatus",
            "PostTargetStatus": "posts.states.TargetStatus",
            "SeriesStatus": "posts.models.Series.Status",
            "SettableSeriesStatus": "posts.serializers.series.SETTABLE_STATUSES",
            "DeliveryStatus": "webhooks.models.DeliveryStatus",
            "EventKind": "webhooks.event_kinds.DELIVERED_KIND_CHOICES",
            "MediaKind": "media.models.MediaAsset.Kind",
            "MediaStatus": "media.models.MediaAsset.Status",
            "MediaScanStatus": "media.models.MediaAsset.ScanStatus",
        },
    }
