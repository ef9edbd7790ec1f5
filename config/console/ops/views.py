"""The operators' API: how the service stands, and what an operator does when something is not as it must be."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.utils import timezone

from agents.services import revoke_key_as_operator
from billing.services import reconcile_now
from config.api.operation import Call, Preview, Reply, operation
from config.api.paging import page_body
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
    ReplaysSerializer,
    RetainedSerializer,
    RevokedKeyEnvelope,
    RevokeKeyPreview,
    RevokeKeySerializer,
    RunRetentionPreview,
    StatusSerializer,
)
from config.console.retention import NEVER_DELETED, RetentionReport, run_for_operator
from webhooks.selectors import every_delivery
from webhooks.services import replay_deliveries
from workspaces.selectors import search_workspaces
from workspaces.services import pause_workspace, resume_workspace

MAX_ALARMS = 100


class OperatorsViewSet(OperationViewSet):
    """Views of /ops: they take ADMIN_TOKEN alone."""

    authentication_classes = [OperatorAuthentication]


class StatusViewSet(OperatorsViewSet):
    @operation(
        "ops.status",
        summary="Read how the service stands",
        operator=True,
        responses={200: StatusSerializer},
    )
    def retrieve(self, call: Call) -> Reply:
        now = timezone.now()
        beats = status.heartbeats()
        beat_at = beats.get(status.BEAT)
        return Reply(
            {
                "version": settings.API_VERSION,
                "at": now,
                "duties": status.queues(now),
                "periodic": {
                    "beat_at": beat_at,
                    "beat_alive": status.is_recent(beat_at, now, status.BEAT_ALIVE_WITHIN),
                    "retention_at": beats.get(status.RETENTION),
                },
                "dead_letters": status.dead_letters(),
                "accounts_needing_reauth": status.accounts_needing_reauth(),
                "ledger_drift_months": status.drifting_months(),
                "billing_alarms": status.open_alarms()[:MAX_ALARMS],
            }
        )


class WorkspacesViewSet(OperatorsViewSet):
    @operation(
        "ops.list_workspaces",
        summary="Find workspaces, the deleted ones too, newest first",
        operator=True,
        query=OperatorsWorkspacesQuery,
        responses={200: OperatorsWorkspacePage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_body("workspaces", search_workspaces(caller=call.caller, **call.query)))

    @operation(
        "ops.pause_workspace",
        summary="Pause a workspace",
        description="It reads as before, refuses writes, and holds its scheduled posts. Only an operator lifts this pause.",
        operator=True,
        responses={200: OperatorsWorkspaceEnvelope},
        preview=PauseWorkspacePreview,
    )
    def pause(self, call: Call, workspace_id: str) -> Reply | Preview:
        workspace = pause_workspace(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        return Preview({}, workspace, "would_update") if call.dry_run else Reply({"workspace": workspace})

    @operation(
        "ops.resume_workspace",
        summary="Lift the operators' pause of a workspace",
        description="It stays paused where its owner has paused it as well.",
        operator=True,
        responses={200: OperatorsWorkspaceEnvelope},
        preview=PauseWorkspacePreview,
    )
    def resume(self, call: Call, workspace_id: str) -> Reply | Preview:
        workspace = resume_workspace(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        return Preview({}, workspace, "would_update") if call.dry_run else Reply({"workspace": workspace})


class DeliveriesViewSet(OperatorsViewSet):
    @operation(
        "ops.list_deliveries",
        summary="List deliveries of all workspaces by their status, newest first",
        operator=True,
        query=OperatorsDeliveriesQuery,
        responses={200: OperatorsDeliveryPage},
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_body("deliveries", every_delivery(caller=call.caller, **call.query)))

    @operation(
        "ops.replay_deliveries",
        summary="Send many deliveries once more",
        description="Those of the ids, or the dead letters of a workspace: the same bytes under the same delivery ids, with "
        "fresh signatures.",
        operator=True,
        body=ReplayDeliveriesSerializer,
        responses={200: ReplaysSerializer},
        preview=ReplayDeliveriesPreview,
    )
    def replay(self, call: Call) -> Reply | Preview:
        found = replay_deliveries(caller=call.caller, dry_run=call.dry_run, **call.data)
        return Preview(call.data, found, "would_update") if call.dry_run else Reply(found)


class RetentionViewSet(OperatorsViewSet):
    @operation(
        "ops.run_retention",
        summary="Delete what is over, or in a dry run say what would go",
        description="As the beat does each hour; this call stops after 20 seconds.",
        operator=True,
        responses={200: RetainedSerializer},
        preview=RunRetentionPreview,
    )
    def run(self, call: Call) -> Reply | Preview:
        report = _report_body(run_for_operator(caller=call.caller, dry_run=call.dry_run))
        return Preview({}, report, "would_delete") if call.dry_run else Reply(report)


class BillingViewSet(OperatorsViewSet):
    @operation(
        "ops.reconcile_billing",
        summary="Compare what is known with the payment processor's truth, and the books with themselves",
        description="The nightly look, at once; it takes as long as the processor does. `manage.py reconcile_billing` does "
        "the same and says how far it is.",
        operator=True,
        responses={200: ReconciledEnvelope},
        preview=ReconcileBillingPreview,
    )
    def reconcile(self, call: Call) -> Reply | Preview:
        found = reconcile_now(caller=call.caller, dry_run=call.dry_run)
        if call.dry_run:
            return Preview({}, {"workspaces": found.workspaces}, "would_update", unchecked=["processor", "books"])
        return Reply({"reconciliation": found})


class KeysViewSet(OperatorsViewSet):
    @operation(
        "ops.revoke_key",
        summary="Stop an API key at once, by its token or its id",
        description="For a key that has leaked. The token is kept nowhere.",
        operator=True,
        body=RevokeKeySerializer,
        responses={200: RevokedKeyEnvelope},
        preview=RevokeKeyPreview,
    )
    def revoke(self, call: Call) -> Reply | Preview:
        key = revoke_key_as_operator(
            caller=call.caller, token=call.data.get("token"), api_key_id=call.data.get("id"), dry_run=call.dry_run
        )
        return Preview({}, key, "would_update") if call.dry_run else Reply({"api_key": key})


def _report_body(found: RetentionReport) -> dict[str, Any]:
    rules = [{"name": name, "rows": rows} for name, rows in found.rows.items()]
    return {**asdict(found), "rules": rules, "kept": NEVER_DELETED}
