"""Services that create, read and rotate webhook signing secrets; after a rotation, both secrets sign for a day."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import Caller, WorkspaceStatus, require_access
from config.api.errors import Forbidden
from config.api.plan import ResourcePlan, accept_plan
from config.db.encryption import SealedValueError
from config.db.fixed_select import FixedSelect
from webhooks import signing
from webhooks.models import SigningSecret

logger = logging.getLogger(__name__)
ROTATION_OVERLAP = timedelta(hours=24)  # period after a rotation in which both secrets sign


def get_or_create_and_audit_signing_secret(*, caller: Caller, workspace_id: str) -> str:
    """Service: return the workspace's webhook signing secret, and record in the audit log that the caller has read it.

    A missing secret is created. Raises ScopeMissing, NotFound, Forbidden (to agents).
    """
    require_access(caller, workspace_id, "api_keys.write", write=False)
    if caller.agent_id:
        raise Forbidden("Agents cannot read the signing secret.")
    with transaction.atomic():
        secret = _secrets_of([workspace_id])[0].secret
        record_entry(
            caller=caller,
            operation="workspaces.get_signing_secret",
            workspace_id=workspace_id,
            resource_type="workspace",
            resource_id=workspace_id,
        )
    return secret


def rotate_signing_secret_of_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> str | None:
    """Service: replace the webhook signing secret of the workspace; return the new secret, or None in a dry run.

    The old secret signs for 24 more hours. Only the workspace's owner or a workspace key may do it. Raises ScopeMissing,
    NotFound, Forbidden, WorkspacePaused, PlanChanged.
    """
    require_access(caller, workspace_id, "api_keys.write")
    if caller.agent_id or (caller.is_user and caller.role != "owner"):
        raise Forbidden(gettext_noop("Only the workspace's owner or a workspace key can rotate the signing secret."))
    with transaction.atomic():
        locked = SigningSecret.objects.select_for_update().filter(pk=workspace_id).first()
        # The time of the last rotation identifies the secret, which is not in the plan itself.
        before = {"previous_until": locked.previous_until if locked else None}
        accept_plan(ResourcePlan("workspaces.rotate_signing_secret", workspace_id, before, {"replaced": True}))
        secret = None if dry_run else _replace(workspace_id)
        record_entry(
            caller=caller,
            operation="workspaces.rotate_signing_secret",
            workspace_id=workspace_id,
            resource_type="workspace",
            resource_id=workspace_id,
            dry_run=dry_run,
        )
    return secret


def get_or_create_secrets_by_workspace_id(workspace_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return each workspace's valid webhook signing secrets, newest first; creates a secret for a workspace that has none.

    Secrets that cannot be decrypted are left out.
    """
    now = timezone.now()
    keys = {}
    for row in _secrets_of(workspace_ids):
        try:
            keys[row.pk] = row.valid_secrets_at(now)
        except SealedValueError as error:
            logger.error("Deliveries of %s cannot be signed: %s", row.pk, error)
    return keys


def destroy_secrets_of_deleted_workspaces() -> int:
    """Destroy the webhook signing secrets of workspaces soon after their deletion; returns how many were destroyed."""
    return SigningSecret.objects.filter(workspace__status=WorkspaceStatus.DELETED).delete()[0]


_secrets_by_workspace = FixedSelect(SigningSecret, where_in="workspace")


def _secrets_of(workspace_ids: Iterable[str]) -> list[SigningSecret]:
    """Return the rows of the given workspaces' webhook signing secrets; creates missing ones.

    This is safe if several calls do so at once.
    """
    wanted = sorted(set(workspace_ids))
    found = _secrets_by_workspace(wanted)
    if len(found) == len(wanted):
        return found
    missing = set(wanted) - {row.pk for row in found}
    SigningSecret.objects.bulk_create(
        [SigningSecret(workspace_id=pk, secret=signing.new_signing_secret()) for pk in sorted(missing)], ignore_conflicts=True
    )
    return _secrets_by_workspace(wanted)


def _replace(workspace_id: str) -> str:
    _secrets_of([workspace_id])
    row = SigningSecret.objects.select_for_update().get(pk=workspace_id)
    row.previous_secret, row.previous_until = row.secret, timezone.now() + ROTATION_OVERLAP
    row.secret = signing.new_signing_secret()
    row.save()
    return row.secret
