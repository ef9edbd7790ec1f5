"""Create workspaces."""

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
    """Creates rows of a higher app for a new workspace (settings.WORKSPACE_PROVISIONERS)."""

    def preview(self) -> dict[str, Any]:
        """Return what `provision` would create, as fields of a dry run's `would_create`."""

    def provision(self, *, workspace: Workspace) -> None:
        """Create the rows, inside the transaction that creates the workspace."""


@dataclass(frozen=True)
class WorkspacePlan:
    """A workspace to create, and what the provisioners create with it."""

    workspace: Workspace
    provisions: dict[str, Any]


def create_workspace(*, caller: Caller, owner_user_id: str, dry_run: bool = False, **fields: Any) -> WorkspacePlan:
    """Create a workspace, its owner's membership, and what the provisioners add.

    `fields`: name, default_timezone, free_monthly_credit_cents, monthly_spend_cap_cents, monthly_social_url_post_cap,
    commit_pack_id. The caller is the future owner, or a workspace key of a workspace with the same owner.
    Raises Forbidden for another owner, ScopeMissing, ValidationFailed, Conflict (the owner has too many).
    """
    require_workspace_creator(caller, owner_user_id)
    if fields.setdefault("free_monthly_credit_cents", default_free_credit_cents()) > settings.MAX_FREE_CREDIT_CENTS:
        message = f"At most {settings.MAX_FREE_CREDIT_CENTS} cents of free credit a month."
        raise ValidationFailed.of("free_monthly_credit_cents", message, "max_value")
    plan = WorkspacePlan(
        Workspace(owner_user_id=owner_user_id, slug=_unused_slug(fields["name"]), **fields),
        {key: value for provisioner in _provisioners() for key, value in provisioner.preview().items()},
    )
    with transaction.atomic():
        require_workspace_quota(owner_user_id)
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


def require_workspace_creator(caller: Caller, owner_user_id: str) -> None:
    """Require that the caller may create workspaces for this owner. Raises Forbidden, ScopeMissing, WorkspacePaused."""
    if caller.is_user:
        if caller.actor_id != owner_user_id:
            raise Forbidden("You can create workspaces only for yourself.")
        return
    require(caller, caller.workspace_id or "", "api_keys.write")
    if caller.agent_id:
        raise Forbidden("An agent's key cannot create workspaces.")
    if caller.workspace_owner_id != owner_user_id:
        raise Forbidden("A workspace key can create workspaces only for its own workspace's owner.")


def default_free_credit_cents() -> int:
    """Return the monthly free credit of a workspace that is created without one."""
    return min(100, settings.MAX_FREE_CREDIT_CENTS)


def require_workspace_quota(owner_user_id: str) -> None:
    """Lock the owner's row and raise Conflict if they own MAX_WORKSPACES_PER_OWNER workspaces. Needs a transaction.

    Workspaces deleted in the current UTC month count, because each of them had its free credit for the month.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner_user_id)
    month = timezone.now().astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    deleted_earlier = Q(status=WorkspaceStatus.DELETED, updated_at__lt=month)  # a deleted workspace never changes again
    if (
        Workspace.objects.filter(~deleted_earlier, owner_user_id=owner_user_id).count()
        >= settings.MAX_WORKSPACES_PER_OWNER
    ):
        raise Conflict(
            f"This owner has reached the limit of {settings.MAX_WORKSPACES_PER_OWNER} workspaces; "
            "those deleted this month count.",
            suggested_action="Use an existing workspace; a deleted one stops counting when the next month (UTC) begins.",
        )


def _unused_slug(name: str) -> str:
    """Return a slug of the name, with a short suffix if the slug is already used."""
    base = slugify(name)[:60] or "workspace"
    return _suffixed(base) if Workspace.objects.filter(slug=base).exists() else base


def _suffixed(slug: str) -> str:
    return f"{slug}-{secrets.token_hex(3)}"


def _insert(workspace: Workspace) -> None:
    """Insert the workspace, with a slug suffix if another request has just used the slug."""
    try:
        with transaction.atomic():
            workspace.save(force_insert=True)
    except IntegrityError:
        workspace.slug = _suffixed(workspace.slug)
        workspace.save(force_insert=True)


def _provisioners() -> list[Provisioner]:
    return [import_string(path)() for path in settings.WORKSPACE_PROVISIONERS]
