"""API serializers of agents, API keys and claim tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from agents.models import KEY_ROTATION_OVERLAP_HOURS, Agent, ApiKey
from agents.networks import MAX_ALLOWED_NETWORKS, normalize_network
from config.api import fields
from config.api.caller import AgentMode
from config.api.operation import WriteBody
from config.api.paging import PageQuery, page_serializer_class
from config.api.scopes import SCOPE_CHOICES
from config.api.serializers import StrictSerializer, dry_run_serializer_class
from config.api.webhook_url import WebhookUrlField

KEY_STATUSES = ["active", "retiring", "revoked", "expired"]
MAX_INT32 = 2**31 - 1
RATE_LIMIT_HELP_TEXT = f"Requests a minute, at most {settings.MAX_RATE_LIMIT_PER_MINUTE}."


def scope_list_field(**kwargs: Any) -> fields.StrictList:
    return fields.StrictList(
        child=fields.Choice(choices=SCOPE_CHOICES), min_length=1, max_length=len(SCOPE_CHOICES), **kwargs
    )


class AgentSerializer(serializers.ModelSerializer):
    """The API representation of an agent, with the same fields in every response."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPE_CHOICES))

    class Meta:
        model = Agent
        fields = ("id", "workspace_id", "name", "scopes", "default_mode", "status")


class AgentSettingsSerializer(serializers.ModelSerializer):
    """The API representation of an agent's settings, such as its caps and webhook URL, but not its scopes and mode."""

    account_allowlist = serializers.ListField(child=serializers.CharField(), allow_null=True)
    rate_limit_per_minute = serializers.IntegerField(source="capped_rate_limit_per_minute", allow_null=True)

    class Meta:
        model = Agent
        fields = (
            "version",
            "description",
            "account_allowlist",
            "rate_limit_per_minute",
            "posts_per_day_cap",
            "monthly_spend_cap_cents",
            "monthly_social_url_post_cap",
            "webhook_url",
            "showcase_opt_in",
        )


class AgentEnvelope(serializers.Serializer):
    agent = AgentSerializer()
    settings = AgentSettingsSerializer()


AgentPage = page_serializer_class("AgentPage", "agents", AgentSerializer)


class AgentsQuery(PageQuery):
    workspace_id = fields.Identifier("wrk", help_text="Whose agents.")


class CreateAgentSerializer(WriteBody):
    """The body of the API request to register an agent."""

    workspace_id = fields.Identifier("wrk")
    owner_user_id = fields.Identifier("usr", help_text="The workspace's owner.")
    name = fields.Name()
    scopes = scope_list_field()
    default_mode = fields.Choice(choices=AgentMode.choices, help_text="The agent's ceiling.")
    version = fields.Name(required=False)
    description = fields.Text(required=False, max_length=2000, allow_blank=True)
    account_allowlist = fields.StrictList(
        child=fields.Identifier("acc"), required=False, max_length=200, help_text="The accounts it may post to."
    )
    rate_limit_per_minute = fields.Integer(required=False, min_value=1, help_text=RATE_LIMIT_HELP_TEXT)
    posts_per_day_cap = fields.Integer(required=False, min_value=1, max_value=MAX_INT32)
    monthly_spend_cap_cents = fields.Integer(required=False, min_value=0)
    monthly_social_url_post_cap = fields.Integer(required=False, min_value=0)
    webhook_url = WebhookUrlField(required=False, help_text="Gets the events of posts that name none.")
    showcase_opt_in = fields.Boolean(required=False)


class AgentCreatedSerializer(AgentEnvelope):
    """The API response to registering an agent: the agent and its claim token, which no other response shows."""

    claim_token = serializers.CharField(allow_null=True, help_text="Shown once; null in a replay.")
    claim_expires_at = serializers.DateTimeField()


class UpdateAgentSerializer(WriteBody):
    """The body of the API request to change an agent. Omitted fields do not change; null removes a setting."""

    name = fields.Name(required=False)
    scopes = scope_list_field(required=False)
    default_mode = fields.Choice(choices=AgentMode.choices, required=False, help_text="The agent's ceiling.")
    version = fields.Name(required=False, allow_null=True)
    description = fields.Text(required=False, max_length=2000, allow_blank=True, allow_null=True)
    account_allowlist = fields.StrictList(
        child=fields.Identifier("acc"),
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The accounts it may post to; null: all of the workspace.",
    )
    rate_limit_per_minute = fields.Integer(required=False, min_value=1, allow_null=True, help_text=RATE_LIMIT_HELP_TEXT)
    posts_per_day_cap = fields.Integer(required=False, min_value=1, max_value=MAX_INT32, allow_null=True)
    monthly_spend_cap_cents = fields.Integer(required=False, min_value=0, allow_null=True)
    monthly_social_url_post_cap = fields.Integer(required=False, min_value=0, allow_null=True)
    webhook_url = WebhookUrlField(required=False, allow_null=True, help_text="Gets the events of posts that name none.")
    showcase_opt_in = fields.Boolean(required=False)

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        """Return only those fields of an agent that are in the API request to change the agent.

        Other fields would be null, which would remove a setting.
        """
        return {name: value for name, value in super().to_representation(instance).items() if name in instance}


UpdateAgentPreview = dry_run_serializer_class("AgentUpdate", request=UpdateAgentSerializer, would_update=AgentSerializer)


class RevokedAgentEnvelope(serializers.Serializer):
    agent = AgentSerializer()


RevokeAgentPreview = dry_run_serializer_class("AgentRevoke", would_update=AgentSerializer)
CreateAgentPreview = dry_run_serializer_class("AgentCreate", request=CreateAgentSerializer, would_create=AgentSerializer)


class ApiKeySerializer(serializers.ModelSerializer):
    """The API representation of an API key, without its token."""

    agent_id = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=KEY_STATUSES)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPE_CHOICES), source="held_scopes")
    allowed_networks = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Where it may be used from; null: anywhere."
    )

    class Meta:
        model = ApiKey
        fields = (
            "id",
            "workspace_id",
            "agent_id",
            "name",
            "prefix",
            "scopes",
            "status",
            "created_at",
            "expires_at",
            "last_used_at",
            "allowed_networks",
        )


class ClaimSerializer(StrictSerializer):
    """The body of the API request by which an agent exchanges its claim token for its API key."""

    claim_token = fields.Text(max_length=200)


class AgentClaimedSerializer(serializers.Serializer):
    """The API response to an agent's claim token: the agent and its API key, whose token no other response shows."""

    agent = AgentSerializer()
    api_key = ApiKeySerializer()
    token = serializers.CharField(allow_null=True, help_text="Shown once; null in a replay.")


class NetworkField(fields.Text):
    """The serializer field of an API key's allowed network: one IP address, or a network such as `192.0.2.0/24`."""

    def to_internal_value(self, data: Any) -> str:
        try:
            return normalize_network(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class CreateApiKeySerializer(WriteBody):
    """The body of the API request to create a workspace API key."""

    workspace_id = fields.Identifier("wrk")
    name = fields.Name()
    scopes = scope_list_field()
    expires_at = fields.Timestamp(required=False, help_text="When the key expires; the default is set by the operator.")
    allowed_networks = fields.StrictList(
        child=NetworkField(max_length=100),
        required=False,
        min_length=1,
        max_length=MAX_ALLOWED_NETWORKS,
        help_text="The networks that the key may be used from, such as 203.0.113.0/24 or 2001:db8::/32; by default any.",
    )


class KeyIssuedSerializer(serializers.Serializer):
    """The API response to the creation of an API key: the key and its token, which no other response shows."""

    api_key = ApiKeySerializer()
    token = serializers.CharField(allow_null=True, help_text="Shown once; null in a replay.")


class RetiringKeySerializer(serializers.ModelSerializer):
    """The API representation of an agent's previous API key, which works for a while after the rotation of the key."""

    expires_at = serializers.DateTimeField()
    overlap_hours = serializers.SerializerMethodField()

    class Meta:
        model = ApiKey
        fields = ("id", "prefix", "expires_at", "overlap_hours")

    def get_overlap_hours(self, key: ApiKey) -> int:
        return KEY_ROTATION_OVERLAP_HOURS


class KeyRotatedSerializer(KeyIssuedSerializer):
    """The API response to a key rotation: the agent's new key with its token, and the previous key.

    The token is shown once.
    """

    retiring_key = RetiringKeySerializer(allow_null=True)


class ApiKeyEnvelope(serializers.Serializer):
    api_key = ApiKeySerializer()


ApiKeyPage = page_serializer_class("ApiKeyPage", "api_keys", ApiKeySerializer)


class ApiKeysQuery(PageQuery):
    workspace_id = fields.Identifier("wrk", help_text="Whose keys.")


CreateApiKeyPreview = dry_run_serializer_class("ApiKeyCreate", request=CreateApiKeySerializer, would_create=ApiKeySerializer)
RevokeApiKeyPreview = dry_run_serializer_class("ApiKeyRevoke", would_update=ApiKeySerializer)
RotateKeyPreview = dry_run_serializer_class("AgentRotateKey", would_create=ApiKeySerializer)
