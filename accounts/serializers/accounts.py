"""API serializers of connected accounts, and of the requests that connect them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from config.api import fields
from config.api.operation import DryRunQuery, WriteBody
from config.api.paging import PageQuery, page_serializer_class
from config.api.serializers import dry_run_serializer_class, one_of_serializer_class


class AccountSerializer(serializers.ModelSerializer):
    """The API representation of a connected account, without its secrets."""

    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    scopes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ConnectedAccount
        fields = (
            "id",
            "workspace_id",
            "platform",
            "method",
            "sandbox",
            "external_id",
            "handle",
            "display_name",
            "avatar_url",
            "profile_url",
            "status",
            "scopes",
            "token_expires_at",
            "last_checked_at",
            "created_at",
            "updated_at",
        )


class AccountEnvelope(serializers.Serializer):
    account = AccountSerializer()


AccountPage = page_serializer_class("AccountPage", "accounts", AccountSerializer)


class AccountsQuery(PageQuery):
    workspace_id = fields.Identifier("wrk")


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": True,
        "description": "What the method's `credentials_schema` asks for in GET /capabilities: secrets, or what has to be "
        "known before a grant, such as the account's server or the kind of account.",
    }
)
class CredentialsField(serializers.JSONField):
    """A serializer field for the JSON object of values with which an account is connected, such as its credentials."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.", code="wrong_type")
        return data


class ConnectSerializer(WriteBody):
    """The body of the API request to connect an account of a platform to a workspace."""

    workspace_id = fields.Identifier("wrk")
    platform = fields.Text(max_length=20, help_text="A `provider` of GET /capabilities.")
    method = fields.Choice(choices=ConnectedAccount.Method.choices, required=False)
    credentials = CredentialsField(required=False, write_only=True)


@extend_schema_serializer(component_name="Authorization")
class BegunOAuthSerializer(serializers.Serializer):
    """API response to a request to connect an account by OAuth: the owner must grant access at `authorization_url`."""

    authorization_url = serializers.CharField(
        allow_null=True, help_text="Open it in a browser. Null in a replay once it can no longer be used."
    )
    state = serializers.CharField(
        allow_null=True, help_text="Comes back with the platform's code; good once. Null as `authorization_url`."
    )
    expires_at = serializers.DateTimeField(help_text="When the state runs out, ten minutes after the beginning.")


ConnectAnswer = one_of_serializer_class("ConnectAnswer", AccountEnvelope, BegunOAuthSerializer)


@extend_schema_serializer(component_name="ConnectionChoice")
class AccountToConnectSerializer(serializers.Serializer):
    """The API representation of one of the accounts among which the caller chooses after an OAuth login."""

    external_id = serializers.CharField(help_text="Give it as `choice`.")
    handle = serializers.CharField()
    display_name = serializers.CharField()
    avatar_url = serializers.CharField()
    profile_url = serializers.CharField()


class ConnectionChoicesSerializer(serializers.Serializer):
    """The API response with the accounts to choose from after OAuth; the caller repeats the request with a `choice`.

    None is connected yet.
    """

    choices = AccountToConnectSerializer(many=True)
    expires_at = serializers.DateTimeField(help_text="Until then each of them can be attached, one by a call.")


CompleteConnectionAnswer = one_of_serializer_class("CompleteConnectionAnswer", AccountEnvelope, ConnectionChoicesSerializer)


class OAuthCallbackQuery(DryRunQuery):
    """Serializer of the query parameters that complete an OAuth connection: `state`, `code` and the chosen account."""

    state = fields.Text(max_length=2048)
    code = fields.Text(max_length=8192)
    choice = fields.Text(
        max_length=255, required=False, help_text="The `external_id` of the account, where the grant opens several."
    )


@extend_schema_serializer(component_name="ConnectRequestShown")
class ConnectRequestEchoSerializer(ConnectSerializer):
    """The API representation of a request to connect an account, without its credentials, in the response to a dry run."""

    credentials = None  # type: ignore[assignment]


ConnectPreview = dry_run_serializer_class(
    "AccountConnect", request=ConnectRequestEchoSerializer, would_create=AccountSerializer
)
CompleteConnectionPreview = dry_run_serializer_class("AccountCompleteConnection", would_create=AccountSerializer)
DisconnectPreview = dry_run_serializer_class("AccountDisconnect", would_update=AccountSerializer)
