"""API serializers of workspaces, their caps, users, and the exports of workspaces and users."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from config.api import fields
from config.api.caller import WorkspaceStatus
from config.api.operation import WriteBody
from config.api.paging import PageQuery, page_serializer_class
from config.api.serializers import dry_run_serializer_class
from workspaces.models import User, Workspace
from workspaces.services.workspaces import default_free_monthly_credit_cents


class OmitNullCommitPack(serializers.BaseSerializer):
    """The base of workspace serializers; it omits the optional field `commit_pack_id` from API responses if it is null."""

    optional_fields = ("commit_pack_id",)

    def to_representation(self, instance: Workspace) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        if shown["commit_pack_id"] is None:
            del shown["commit_pack_id"]
        return shown


class WorkspaceSerializer(OmitNullCommitPack, serializers.ModelSerializer):
    """The API representation of a workspace, with the same fields in every response."""

    status = serializers.ChoiceField(choices=WorkspaceStatus.choices)

    class Meta:
        model = Workspace
        fields = (
            "id",
            "name",
            "slug",
            "owner_user_id",
            "processor_customer_id",
            "default_timezone",
            "free_monthly_credit_cents",
            "monthly_spend_cap_cents",
            "monthly_social_url_post_cap",
            "commit_pack_id",
            "status",
            "created_at",
            "updated_at",
        )


class WorkspaceEnvelope(serializers.Serializer):
    workspace = WorkspaceSerializer()


WorkspaceListPage = page_serializer_class("WorkspacePage", "workspaces", WorkspaceSerializer)


class WorkspacesQuery(PageQuery):
    owner_user_id = fields.Identifier("usr", help_text="Whose workspaces.")


class CreateWorkspaceSerializer(WriteBody):
    """The body of the API request to create a workspace."""

    owner_user_id = fields.Identifier("usr", help_text="The user who is to own it.")
    name = fields.Name()
    default_timezone = fields.Timezone(default="UTC", help_text="An IANA time zone.")
    free_monthly_credit_cents = fields.Integer(
        min_value=0, default=default_free_monthly_credit_cents(), help_text=f"At most {settings.MAX_FREE_CREDIT_CENTS}."
    )
    monthly_spend_cap_cents = fields.Integer(min_value=0, default=0)
    monthly_social_url_post_cap = fields.Integer(min_value=0, default=0)
    commit_pack_id = fields.Name(required=False)


class SandboxAccountsSerializer(serializers.Serializer):
    count = serializers.IntegerField(min_value=0)
    platforms = serializers.ListField(child=serializers.CharField())


@extend_schema_serializer(component_name="WorkspaceToCreate")
class PlannedWorkspaceSerializer(OmitNullCommitPack, CreateWorkspaceSerializer):
    """The API representation of a workspace that would be created, in the response to the dry run."""

    dry_run = None  # type: ignore[assignment]
    slug = serializers.CharField()
    status = serializers.ChoiceField(choices=WorkspaceStatus.choices)


class WouldCreateWorkspaceSerializer(serializers.Serializer):
    workspace = PlannedWorkspaceSerializer()
    sandbox_accounts = SandboxAccountsSerializer()


CreateWorkspacePreview = dry_run_serializer_class(
    "WorkspaceCreate", request=CreateWorkspaceSerializer, would_create=WouldCreateWorkspaceSerializer
)


class UpdateCapsSerializer(WriteBody):
    """The API request to change a workspace's monthly caps. A cap that the request leaves out does not change."""

    monthly_spend_cap_cents = fields.Integer(required=False, min_value=0)
    monthly_social_url_post_cap = fields.Integer(required=False, min_value=0)


class UpdateCapsRequestShown(UpdateCapsSerializer):
    """The API representation of a workspaces.update_caps request, as the response to its dry run repeats it."""

    dry_run = None  # type: ignore[assignment]
    workspace_id = fields.Identifier("wrk")


UpdateCapsPreview = dry_run_serializer_class(
    "WorkspaceUpdateCaps", request=UpdateCapsRequestShown, would_update=WorkspaceSerializer
)
DeleteWorkspacePreview = dry_run_serializer_class("WorkspaceDelete", would_delete=WorkspaceSerializer)


@extend_schema_serializer(component_name="WorkspaceExport")
class ExportedWorkspaceSerializer(serializers.Serializer):
    """The API representation of an exported workspace: the data that the service stores about the workspace itself."""

    exported_at = serializers.DateTimeField()
    workspace = WorkspaceSerializer()


class UserSerializer(serializers.ModelSerializer):
    """The API representation of a user, in which fields without a value are left out."""

    optional_fields = ("identity_provider_user_id", "display_name")
    identity_provider_user_id = serializers.CharField(source="identity_subject", required=False)
    email = serializers.EmailField()
    display_name = serializers.CharField(required=False)
    deleted = serializers.BooleanField(source="is_deleted")

    class Meta:
        model = User
        fields = ("id", "identity_provider_user_id", "email", "display_name", "created_at", "updated_at", "deleted")

    def to_representation(self, instance: User) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        shown["email"] = shown["email"] or f"unknown+{instance.id}@users.invalid"  # the API promises an address
        return {name: value for name, value in shown.items() if value or name not in self.optional_fields}


class UserDeletedSerializer(serializers.Serializer):
    """The response to the deletion of a user: the user and the workspaces that were deleted together with the user."""

    user = UserSerializer()
    deleted_workspaces = WorkspaceSerializer(many=True)


DeleteUserPreview = dry_run_serializer_class("UserDelete", would_delete=UserSerializer)


class UserExportSerializer(serializers.Serializer):
    """The API representation of an exported user: the data stored about the user, and the active workspaces the user owns."""

    exported_at = serializers.DateTimeField()
    user = UserSerializer()
    owned_workspaces = WorkspaceSerializer(many=True)
