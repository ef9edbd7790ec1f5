"""API views of connected accounts (list, connect, check, disconnect) and of platform capabilities."""

from __future__ import annotations

from typing import Any

from accounts import selectors, services
from accounts.platforms.registry import get_adapter
from accounts.serializers.accounts import (
    AccountEnvelope,
    AccountPage,
    AccountsQuery,
    CompleteConnectionAnswer,
    CompleteConnectionPreview,
    ConnectAnswer,
    ConnectPreview,
    ConnectSerializer,
    DisconnectPreview,
    OAuthCallbackQuery,
)
from accounts.serializers.capabilities import AccountCapabilitiesSerializer, ServiceCapabilitiesSerializer
from accounts.serializers.slots import SlotsEnvelope, UpdateSlotsPreview, UpdateSlotsSerializer
from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet


def _connected_before(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API view's answer to a repeated request to connect an account: the account, or the OAuth URL."""
    stored: dict[str, Any] = record.body or {}
    return (
        stored
        if "account" in stored
        else {**services.stored_url_and_state_if_unused(attempt_id=record.resource_id), **stored}
    )


class AccountViewSet(OperationViewSet):
    @operation(
        "accounts.connect",
        summary="Connect an account",
        description="By credentials the account is connected at once. By OAuth the answer says where its owner grants "
        "access; the connection is completed in the browser that comes back, or by GET /accounts/oauth/callback. Some "
        "platforms ask for something before the grant, such as `kind` (a member's profile, or pages): it goes into "
        "`credentials`, as the platform's `credentials_schema` says in GET /capabilities.",
        access=Access("accounts.write"),
        body=Body(ConnectSerializer),
        responses={200: ConnectAnswer},
        preview=ConnectPreview,
        idempotency=Idempotency("lease", replay=_connected_before),
        errors=("CREDENTIALS_REJECTED", "CONNECTION_UNAVAILABLE", "PLATFORM_ERROR"),
    )
    def connect(self, call: Call) -> Reply | DryRunReply:
        given = {**call.data, "platform_name": call.data["platform"]}
        del given["platform"]
        made = services.connect_account_or_begin_oauth(caller=call.caller, dry_run=call.dry_run, **given)
        if isinstance(made, services.BegunConnectionAttempt):
            begun = {name: getattr(made, name) for name in ("authorization_url", "state", "expires_at")}
            # The other values are stored encrypted in the attempt.
            stored = {"expires_at": ConnectAnswer(begun).data["expires_at"]}
            return Reply(begun, resource_id=made.attempt_id, replay_data=stored)
        if call.dry_run:
            unchecked = "authorization" if made.method == made.Method.OAUTH else "credentials"
            return DryRunReply(call.data, made, "would_create", unchecked=[unchecked])
        answer = {"account": made}
        return Reply(answer, resource_id=made.id, replay_data=ConnectAnswer(answer).data)

    @operation(
        "accounts.list",
        summary="List the connected accounts of a workspace",
        access=Access("accounts.read"),
        query=AccountsQuery,
        responses={200: AccountPage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("accounts", selectors.page_of_accounts(caller=call.caller, **call.query)))

    @operation(
        "accounts.status",
        summary="Ask the platform whether an account still works",
        access=Access("accounts.read"),
        responses={200: AccountEnvelope},
        errors=("PLATFORM_ERROR",),
    )
    def check_and_update_status(self, call: Call, account_id: str) -> Reply:
        return Reply({"account": services.verify_and_update_account(caller=call.caller, account_id=account_id)})

    @operation(
        "accounts.capabilities",
        summary="What an account's platform takes",
        access=Access("accounts.read"),
        responses={200: AccountCapabilitiesSerializer},
    )
    def capabilities(self, call: Call, account_id: str) -> Reply:
        account = selectors.get_accessible_account(
            caller=call.caller, account_id=account_id, scope="accounts.read", write=False
        )
        shown = get_adapter(account.platform).capabilities_for(account.id_limits_and_scopes())
        return Reply({"account_id": account.id, "platform": account.platform, "capabilities": shown})

    @operation(
        "accounts.disconnect",
        summary="Disconnect an account",
        access=Access("accounts.write"),
        responses={200: AccountEnvelope},
        preview=DisconnectPreview,
        idempotency=Idempotency("lease"),
        errors=("ACCOUNT_NOT_ALLOWED",),
    )
    def destroy(self, call: Call, account_id: str) -> Reply | DryRunReply:
        account = services.disconnect_account(caller=call.caller, account_id=account_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, account, "would_update")
        return Reply({"account": account}, resource_id=account.id)

    @operation(
        "accounts.slots",
        summary="Read the slots of an account",
        access=Access("accounts.read"),
        responses={200: SlotsEnvelope},
    )
    def slots(self, call: Call, account_id: str) -> Reply:
        account = selectors.get_accessible_account(
            caller=call.caller, account_id=account_id, scope="accounts.read", write=False
        )
        return Reply({"slots": account})

    @operation(
        "accounts.update_slots",
        summary="Replace the slots of an account",
        description='Slots are weekly times. A target with `slot: "next"` takes the first one that is free. Posts that are '
        "scheduled already keep their times.",
        access=Access("accounts.write"),
        body=Body(UpdateSlotsSerializer),
        responses={200: SlotsEnvelope},
        preview=UpdateSlotsPreview,
        idempotency=Idempotency("transaction"),
        errors=("ACCOUNT_NOT_ALLOWED",),
    )
    def update_slots(self, call: Call, account_id: str) -> Reply | DryRunReply:
        account = services.update_slots(caller=call.caller, account_id=account_id, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, account, "would_update")
        return Reply({"slots": account}, resource_id=account.id)


class CompleteConnectionViewSet(OperationViewSet):
    http_method_names = ["get"]  # GET writes here, so HEAD is not allowed

    @operation(
        "accounts.complete_connection",
        summary="Complete a connection that was granted at the platform",
        description="For whoever began it, with the state and the platform's code. Where the grant opens several accounts, "
        "the answer lists them as choices, and the same call with a `choice` attaches one.",
        access=Access("accounts.write"),
        query=OAuthCallbackQuery,
        responses={200: CompleteConnectionAnswer},
        preview=CompleteConnectionPreview,
        idempotency=Idempotency("lease"),
        errors=("OAUTH_STATE_INVALID", "CREDENTIALS_REJECTED", "CONNECTION_UNAVAILABLE", "PLATFORM_ERROR"),
    )
    def complete(self, call: Call) -> Reply | DryRunReply:
        made = services.complete_connection(caller=call.caller, dry_run=call.dry_run, **call.query)
        if isinstance(made, services.AccountChoices):
            choices = {"choices": made.identities, "expires_at": made.expires_at}
            return Reply(choices, resource_id=made.attempt_id)
        if call.dry_run:
            return DryRunReply({}, made, "would_create", unchecked=["code"])
        return Reply({"account": made}, resource_id=made.id)


class ServiceCapabilitiesViewSet(OperationViewSet):
    @operation(
        "capabilities.get",
        summary="What can be connected and billed at this service",
        responses={200: ServiceCapabilitiesSerializer},
    )
    def retrieve(self, call: Call) -> Reply:
        return Reply(selectors.platform_methods_and_billing_capabilities())
