"""API views of webhook deliveries and signing secrets."""

from __future__ import annotations

from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Idempotency
from config.api.views import OperationViewSet
from webhooks import selectors, services, signing
from webhooks.serializers import (
    DeliveriesQuery,
    DeliveryEnvelope,
    DeliveryPage,
    ReplayDeliveryPreview,
    RotateSigningSecretPreview,
    SigningSecretSerializer,
)


class WorkspaceSigningSecretViewSet(OperationViewSet):
    @operation(
        "workspaces.get_signing_secret",
        summary="Read the secret that signs a workspace's deliveries",
        description="For people and workspace keys, never for an agent. Each read is recorded in the audit log.",
        access=Access("api_keys.write"),
        responses={200: SigningSecretSerializer},
        writes=False,
        audited_read=True,
        errors=("FORBIDDEN", "NOT_FOUND"),
    )
    def retrieve(self, call: Call, workspace_id: str) -> Reply:
        secret = services.get_or_create_and_audit_signing_secret(caller=call.caller, workspace_id=workspace_id)
        return Reply(_scheme(workspace_id, secret))

    @operation(
        "workspaces.rotate_signing_secret",
        summary="Replace the secret that signs a workspace's deliveries",
        description="For 24 hours deliveries have two `v1` signatures, the new secret's first.",
        access=Access("api_keys.write"),
        responses={200: SigningSecretSerializer},
        preview=RotateSigningSecretPreview,
        idempotency=Idempotency("transaction", secrets=("signing_secret",)),
        errors=("FORBIDDEN", "NOT_FOUND"),
    )
    def rotate(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        secret = services.rotate_signing_secret_of_workspace(
            caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run
        )
        body = _scheme(workspace_id, secret)
        if call.dry_run:
            return DryRunReply({}, body, "would_update")
        return Reply(body, resource_id=workspace_id)


class DeliveryViewSet(OperationViewSet):
    @operation(
        "webhooks.list",
        summary="List a workspace's deliveries, newest first",
        access=Access("posts.read"),
        query=DeliveriesQuery,
        responses={200: DeliveryPage},
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("deliveries", selectors.list_deliveries(caller=call.caller, **call.query)))

    @operation(
        "webhooks.replay",
        summary="Send a delivery again",
        description="Sends the same body with the same delivery id and a new signature.",
        access=Access("posts.publish"),
        responses={200: DeliveryEnvelope},
        preview=ReplayDeliveryPreview,
        idempotency=Idempotency("transaction"),
        errors=("NOT_FOUND", "INVALID_STATE", "AGENT_MODE_FORBIDS"),
    )
    def replay(self, call: Call, delivery_id: str) -> Reply | DryRunReply:
        delivery = services.replay_delivery(caller=call.caller, delivery_id=delivery_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, delivery, "would_update")
        return Reply({"delivery": delivery}, resource_id=delivery.id)


def _scheme(workspace_id: str, secret: str | None) -> dict[str, str | None]:
    return {
        "workspace_id": workspace_id,
        "signing_secret": secret,
        "signature_header": signing.SIGNATURE_HEADER,
        "signed_payload_format": signing.SIGNED_PAYLOAD_FORMAT,
        "algorithm": signing.ALGORITHM,
    }
