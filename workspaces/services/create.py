"""Making workspaces."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Protocol

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.text import slugify

from auditlog.services import record
from config.api.caller import Caller, WorkspaceStatus, require
from config.api.errors import Conflict, Forbidden, ValidationFailed
from workspaces.models import Member, User, Workspace


class Provisioner(Protocol):
    """What a new workspace gets from a higher floor (settings.WORKSPACE_PROVISIONERS)."""

    def preview(self) -> dict[str, Any]:
        """What `provision` would make, as the fields of a dry run's `would_create`."""

    def provision(self, *, workspace: Workspace) -> None:
        """Make it, in the transaction that makes the workspace."""


@dataclass(frozen=True)
class WorkspacePlan:
    """A workspace as it would be made, and what would be made with it."""

    workspace: Workspace
    provisions: dict[str, Any]


def create_workspace(*, caller: Caller, owner_user_id: str, dry_run: bool = False, **fields: Any) -> WorkspacePlan:
    """Make a workspace with its owner as a member, and what the provisioners add.

    `fields`: name, default_timezone, free_monthly_credit_cents, monthly_spend_cap_cents, monthly_social_url_post_cap,
    commit_pack_id. The caller is the user who is to own it, or a workspace key whose workspace has that owner.
    Raises Forbidden for another owner, ScopeMissing, ValidationFailed, Conflict (the owner has too many).
    """
    require_maker(caller, owner_user_id)
    if fields.setdefault("free_monthly_credit_cents", default_free_credit()) > settings.MAX_FREE_CREDIT_CENTS:
        message = f"At most {settings.MAX_FREE_CREDIT_CENTS} cents of free credit a month."
        raise ValidationFailed.of("free_monthly_credit_cents", message, "max_value")
    plan = WorkspacePlan(
        Workspace(owner_user_id=owner_user_id, slug=_free_slug(fields["name"]), **fields),
        {key: value for provisioner in _provisioners() for key, value in provisioner.preview().items()},
    )
    with transaction.atomic():
        require_room(owner_user_id)
        if not dry_run:
            _insert(plan.workspace)
            Member.objects.create(workspace=plan.workspace, user_id=owner_user_id, role=Member.Role.OWNER)
            for provisioner in _provisioners():
                provisioner.provision(workspace=plan.workspace)
        record(
            caller=caller,
            operation="workspaces.create",
            workspace_id=caller.workspace_id if dry_run else plan.workspace.id,
            resource_type="workspace",
            resource_id="" if dry_run else plan.workspace.id,
            dry_run=dry_run,
        )
    return plan


def require_maker(caller: Caller, owner_user_id: str) -> None:
    """Let pass who may make workspaces for this owner. Raises Forbidden, ScopeMissing, WorkspacePaused."""
    if caller.is_user:
        if caller.actor_id != owner_user_id:
            raise Forbidden("A workspace can be made for yourself only.")
        return
    require(caller, caller.workspace_id or "", "api_keys.write")
    if caller.agent_id:
        raise Forbidden("An agent's key cannot make workspaces.")
    if caller.workspace_owner_id != owner_user_id:
        raise Forbidden("A workspace key can make workspaces for its own workspace's owner only.")


def default_free_credit() -> int:
    """What a workspace gets whose maker names no free credit."""
    return min(100, settings.MAX_FREE_CREDIT_CENTS)


def require_room(owner_user_id: str) -> None:
    """Lock the owner's row and raise Conflict when they own as many workspaces as one person may. In a transaction.

    Those that were deleted in this UTC month count: each had its free credit of the month.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner_user_id)
    month = timezone.now().astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    gone = Q(status=WorkspaceStatus.DELETED, updated_at__lt=month)  # nothing else changes a deleted workspace
    if Workspace.objects.filter(~gone, owner_user_id=owner_user_id).count() >= settings.MAX_WORKSPACES_PER_OWNER:
        raise Conflict(
            f"This owner has reached the limit of {settings.MAX_WORKSPACES_PER_OWNER} workspaces; "
            "those deleted this month count.",
            suggested_action="Use a workspace that exists; a deleted one stops counting when the next month (UTC) begins.",
        )


def _free_slug(name: str) -> str:
    """A slug of the name; a taken one gets a short suffix."""
    base = slugify(name)[:60] or "workspace"
    return _suffixed(base) if Workspace.objects.filter(slug=base).exists() else base


def _suffixed(slug: str) -> str:
    return f"{slug}-{secrets.token_hex(3)}"


def _insert(workspace: Workspace) -> None:
    """Insert the row; when another took the slug at the same moment, with a suffix."""
    try:
        with transaction.atomic():
            workspace.save(force_insert=True)
    except IntegrityError:
        workspace.slug = _suffixed(workspace.slug)
        workspace.save(force_insert=True)


def _provisioners() -> list[Provisioner]:
    return [import_string(path)() for path in settings.WORKSPACE_PROVISIONERS]
