"""Views of the operators' API at /ops: status, workspaces, deliveries, retention, billing and API keys."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.conf import settings

from agents.oauth.grants import end_grant_as_operator
from agents.services import revoke_key_as_operator
from agents.tokens import is_oauth_token
from billing.services import reconcile_billing_for_operator
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Body
from config.api.views import OperationViewSet
from config.console import status
from config.console.ops.authentication import OperatorAuthentication
from config.console.ops.serializers import (
    OperatorsDeliveriesQuery,
    OperatorsDeliveryPage,
    OperatorsWorkspaceEnvelope,
    OperatorsWorkspacePage,
    OperatorsWorkspacesQuery,
    PauseWorkspacePreview,
    ReconcileBillingPreview,
    ReconciledEnvelope,
    ReplayDeliveriesPreview,
    ReplayDeliveriesSerializer,
    ReplayResultSerializer,
    RetentionResultSerializer,
    RevokedKeyEnvelope,
    RevokeKeyPreview,
    RevokeKeySerializer,
    RunRetentionPreview,
    StatusSerializer,
)
from config.console.retention_run import NEVER_DELETED, RetentionReport, run_retention_for_operator
from webhooks.selectors import list_deliveries_as_operator
from webhooks.services import replay_deliveries_as_operator
from workspaces.selectors import search_workspaces_as_operator
from workspaces.services import pause_workspace, resume_workspace

MAX_ALARMS = 100


class OperatorsViewSet(OperationViewSet):
    """Base class of the views at /ops, the operators' API, which are authenticated by ADMIN_TOKEN only."""

    authentication_classes = [OperatorAuthentication]


class StatusViewSet(OperatorsViewSet):
    @operation(
        "ops.status",
        summary="Read the status of the service",
        access=Access(operator=True),
        responses={200: StatusSerializer},
    )
    def retrieve(self, call: Call) -> Reply:
        found = status.service_status()
        alarms = found["billing_alarms"][:MAX_ALARMS]
        return Reply({**found, "version": settings.API_VERSION, "billing_alarms": alarms})


class WorkspacesViewSet(OperatorsViewSet):
    @operation(
        "ops.list_workspaces",
        summary="Find workspaces, including deleted ones, newest first",
        access=Access(operator=True),
        query=OperatorsWorkspacesQuery,
        responses={200: OperatorsWorkspacePage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("workspaces", search_workspaces_as_operator(caller=call.caller, **call.query)))

    @operation(
        "ops.pause_workspace",
        summary="Pause a workspace",
        description="A paused workspace can only be read, and its scheduled posts wait. Only an operator can resume it.",
        access=Access(operator=True),
        responses={200: OperatorsWorkspaceEnvelope},
        preview=PauseWorkspacePreview,
    )
    def pause(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        workspace = pause_workspace(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        return DryRunReply({}, workspace, "would_update") if call.dry_run else Reply({"workspace": workspace})

    @operation(
        "ops.resume_workspace",
        summary="End the operators' pause of a workspace",
        description="It stays paused if its owner paused it too.",
        access=Access(operator=True),
        responses={200: OperatorsWorkspaceEnvelope},
        preview=PauseWorkspacePreview,
    )
    def resume(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        workspace = resume_workspace(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        return DryRunReply({}, workspace, "would_update") if call.dry_run else Reply({"workspace": workspace})


class DeliveriesViewSet(OperatorsViewSet):
    @operation(
        "ops.list_deliveries",
        summary="List deliveries of all workspaces by their status, newest first",
        access=Access(operator=True),
        query=OperatorsDeliveriesQuery,
        responses={200: OperatorsDeliveryPage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("deliveries", list_deliveries_as_operator(caller=call.caller, **call.query)))

    @operation(
        "ops.replay_deliveries",
        summary="Send many deliveries again",
        description="The deliveries with these ids, or all dead letters of a workspace, with the same bodies and ids "
        "and new signatures.",
        access=Access(operator=True),
        body=Body(ReplayDeliveriesSerializer),
        responses={200: ReplayResultSerializer},
        preview=ReplayDeliveriesPreview,
    )
    def replay(self, call: Call) -> Reply | DryRunReply:
        found = replay_deliveries_as_operator(caller=call.caller, dry_run=call.dry_run, **call.data)
        return DryRunReply(call.data, found, "would_update") if call.dry_run else Reply(found)


class RetentionRunViewSet(OperatorsViewSet):
    @operation(
        "ops.run_retention",
        summary="Delete expired rows, or count them in a dry run",
        description="The same as the hourly run, but it stops after 20 seconds.",
        access=Access(operator=True),
        responses={200: RetentionResultSerializer},
        preview=RunRetentionPreview,
    )
    def run(self, call: Call) -> Reply | DryRunReply:
        report = _report_body(run_retention_for_operator(caller=call.caller, dry_run=call.dry_run))
        return DryRunReply({}, report, "would_delete") if call.dry_run else Reply(report)


class BillingViewSet(OperatorsViewSet):
    @operation(
        "ops.reconcile_billing",
        summary="Compare subscriptions and usage with the payment processor, and check the ledger",
        description="Runs the nightly check now. `manage.py reconcile_billing` does the same and shows its progress.",
        access=Access(operator=True),
        responses={200: ReconciledEnvelope},
        preview=ReconcileBillingPreview,
    )
    def reconcile_with_processor(self, call: Call) -> Reply | DryRunReply:
        found = reconcile_billing_for_operator(caller=call.caller, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, {"workspaces": found.workspaces}, "would_update", unchecked=["processor", "books"])
        return Reply({"reconciliation": found})


class ApiKeysViewSet(OperatorsViewSet):
    @operation(
        "ops.revoke_key",
        summary="Stop an API key at once, by its token or its id",
        description="For a key that has leaked. The token is not stored. An access or refresh token of a connected program "
        "ends its connection, which the answer shows as an API key whose id begins with ogr_.",
        access=Access(operator=True),
        body=Body(RevokeKeySerializer),
        responses={200: RevokedKeyEnvelope},
        preview=RevokeKeyPreview,
    )
    def revoke(self, call: Call) -> Reply | DryRunReply:
        token = call.data.get("token")
        if token and is_oauth_token(token):
            key = end_grant_as_operator(caller=call.caller, token=token, dry_run=call.dry_run)
        else:
            key = revoke_key_as_operator(
                caller=call.caller, token=token, api_key_id=call.data.get("id"), dry_run=call.dry_run
            )
        return DryRunReply({}, key, "would_update") if call.dry_run else Reply({"api_key": key})


def _report_body(found: RetentionReport) -> dict[str, Any]:
    rules = [{"name": name, "rows": rows} for name, rows in found.rows.items()]
    return {**asdict(found), "rules": rules, "kept": NEVER_DELETED}
