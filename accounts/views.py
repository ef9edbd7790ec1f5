"""Connected accounts and capabilities over the API."""

from __future__ import annotations

from accounts import selectors, services
from accounts.platforms.registry import platform
from accounts.serializers import (
    AccountCapabilitiesSerializer,
    AccountEnvelope,
    AccountPage,
    AccountsQuery,
    CompleteConnectionPreview,
    ConnectPreview,
    ConnectSerializer,
    DisconnectPreview,
    OAuthCallbackQuery,
    ServiceCapabilitiesSerializer,
)
from config.api.operation import Call, Preview, Reply, operation
from config.api.paging import page_body
from config.api.views import OperationViewSet


class AccountViewSet(OperationViewSet):
    @operation(
        "accounts.connect",
        summary="Connect an account",
        scope="accounts.write",
        body=ConnectSerializer,
        responses={200: AccountEnvelope},
        preview=ConnectPreview,
        idempotent="lease",
        errors=("CREDENTIALS_REJECTED", "CONNECTION_UNAVAILABLE", "PLATFORM_ERROR"),
    )
    def connect(self, call: Call) -> Reply | Preview:
        given = {**call.data, "platform_name": call.data["platform"]}
        del given["platform"]
        account = services.connect_account(caller=call.caller, dry_run=call.dry_run, **given)
        if call.dry_run:
            return Preview(call.data, account, "would_create", unchecked=["credentials"])
        return Reply({"account": account}, resource_id=account.id)

    @operation(
        "accounts.list",
        summary="List the connected accounts of a workspace",
        scope="accounts.read",
        query=AccountsQuery,
        responses={200: AccountPage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_body("accounts", selectors.accounts_of(caller=call.caller, **call.query)))

    @operation(
        "accounts.status",
        summary="Ask the platform whether an account still works",
        scope="accounts.read",
        responses={200: AccountEnvelope},
        errors=("PLATFORM_ERROR",),
    )
    def status(self, call: Call, account_id: str) -> Reply:
        return Reply({"account": services.check_account(caller=call.caller, account_id=account_id)})

    @operation(
        "accounts.capabilities",
        summary="What an account's platform takes",
        scope="accounts.read",
        responses={200: AccountCapabilitiesSerializer},
    )
    def capabilities(self, call: Call, account_id: str) -> Reply:
        account = selectors.account_of(caller=call.caller, account_id=account_id, scope="accounts.read", write=False)
        shown = platform(account.platform).capabilities
        return Reply({"account_id": account.id, "platform": account.platform, "capabilities": shown})

    @operation(
        "accounts.disconnect",
        summary="Disconnect an account",
        scope="accounts.write",
        responses={200: AccountEnvelope},
        preview=DisconnectPreview,
        idempotent="lease",
    )
    def destroy(self, call: Call, account_id: str) -> Reply | Preview:
        account = services.disconnect_account(caller=call.caller, account_id=account_id, dry_run=call.dry_run)
        if call.dry_run:
            return Preview({}, account, "would_update")
        return Reply({"account": account}, resource_id=account.id)


class OAuthCallbackViewSet(OperationViewSet):
    http_method_names = ["get"]  # it writes, so HEAD is not taken

    @operation(
        "accounts.complete_connection",
        summary="Complete a connection that was granted at the platform",
        scope="accounts.write",
        query=OAuthCallbackQuery,
        responses={200: AccountEnvelope},
        preview=CompleteConnectionPreview,
        idempotent="lease",
        errors=("OAUTH_STATE_INVALID", "CONNECTION_UNAVAILABLE", "PLATFORM_ERROR"),
    )
    def complete(self, call: Call) -> Reply | Preview:
        account = services.complete_connection(caller=call.caller, dry_run=call.dry_run, **call.query)
        if call.dry_run:
            return Preview({}, account, "would_create", unchecked=["code"])
        return Reply({"account": account}, resource_id=account.id)


class CapabilitiesViewSet(OperationViewSet):
    @operation(
        "capabilities.get",
        summary="What can be connected and billed at this service",
        responses={200: ServiceCapabilitiesSerializer},
    )
    def retrieve(self, call: Call) -> Reply:
        return Reply(selectors.service_capabilities())
