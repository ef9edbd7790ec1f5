"""Services that create, change, pause, export and delete workspaces.

A workspace can be paused by its owner and by an operator of the service. The two pauses are independent: each side lifts its
own, and the workspace is active when neither is set. A paused workspace can be read, refuses writes and does not publish its
scheduled posts. The row of a deleted workspace stays with status `deleted` until retention purges it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, Protocol

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.text import slugify

from auditlog.services import record_entry
from config.api.caller import Caller, WorkspaceStatus, require_access, require_recent_sign_in, require_role
from config.api.errors import Conflict, Forbidden, ValidationFailed, WorkspacePaused, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan, row_fields
from workspaces import selectors
from workspaces.models import WORKSPACE_FIELDS_IN_PLANS, Member, User, Workspace


class WorkspaceCreationHook(Protocol):
    """The interface of classes by which other apps add rows to a new workspace; WORKSPACE_PROVISIONERS lists the classes."""

    def preview(self) -> dict[str, Any]:
        """Return what another app would add to a new workspace, for the response to a dry run of create_workspace."""

    def create_rows_for_workspace(self, *, workspace: Workspace) -> None:
        """Create the rows that another app adds to a new workspace, in the transaction of create_workspace."""


@dataclass(frozen=True)
class CreatedOrPlannedWorkspace:
    """The result of create_workspace: the workspace, stored or only planned in a dry run, and what other apps add to it."""

    workspace: Workspace
    provisions: dict[str, Any]


def create_workspace(
    *, caller: Caller, owner_user_id: str, dry_run: bool = False, **fields: Any
) -> CreatedOrPlannedWorkspace:
    """Create a workspace, the membership of its owner, and the rows that other apps add to a new workspace.

    `fields`: name, default_timezone, free_monthly_credit_cents, monthly_spend_cap_cents, monthly_social_url_post_cap,
    commit_pack_id. The caller is the future owner, or a workspace key of a workspace with the same owner.
    Raises Forbidden for another owner, ScopeMissing, ValidationFailed, Conflict (the owner has too many), PlanChanged.
    """
    require_may_create_workspace_for_owner(caller, owner_user_id)
    if fields.setdefault("free_monthly_credit_cents", default_free_monthly_credit_cents()) > settings.MAX_FREE_CREDIT_CENTS:
        message = f"At most {settings.MAX_FREE_CREDIT_CENTS} cents of free credit a month."
        raise ValidationFailed.for_field("free_monthly_credit_cents", message, "max_value")
    plan = CreatedOrPlannedWorkspace(
        Workspace(owner_user_id=owner_user_id, slug=_unused_slug(fields["name"]), **fields),
        {key: value for provisioner in _provisioners() for key, value in provisioner.preview().items()},
    )
    with transaction.atomic():
        lock_owner_and_check_workspace_limit(owner_user_id)
        content = row_fields(plan.workspace, *WORKSPACE_FIELDS_IN_PLANS)
        accept_plan(ResourcePlan("workspaces.create", owner_user_id, None, {**content, **plan.provisions}))
        if not dry_run:
            _insert(plan.workspace)
            Member.objects.create(workspace=plan.workspace, user_id=owner_user_id, role=Member.Role.OWNER)
            for provisioner in _provisioners():
                provisioner.create_rows_for_workspace(workspace=plan.workspace)
        record_entry(
            caller=caller,
            operation="workspaces.create",
            workspace_id=caller.workspace_id if dry_run else plan.workspace.id,
            resource_type="workspace",
            resource_id="" if dry_run else plan.workspace.id,
            dry_run=dry_run,
        )
    return plan


def require_may_create_workspace_for_owner(caller: Caller, owner_user_id: str) -> None:
    """Raise Forbidden, ScopeMissing or WorkspacePaused unless the caller may create workspaces for the given owner."""
    if caller.is_user:
        if caller.actor_id != owner_user_id:
            raise Forbidden("You can create workspaces only for yourself.")
        return
    require_access(caller, caller.workspace_id or "", "api_keys.write")
    if caller.agent_id:
        raise Forbidden("An agent's key cannot create workspaces.")
    if caller.workspace_owner_id != owner_user_id:
        raise Forbidden("A workspace key can create workspaces only for its own workspace's owner.")


def default_free_monthly_credit_cents() -> int:
    """Return the free monthly credit in cents with which a workspace is created, unless the request names another amount."""
    return min(100, settings.MAX_FREE_CREDIT_CENTS)


def lock_owner_and_check_workspace_limit(owner_user_id: str) -> None:
    """Workspace service: lock the owner's row; raise Conflict if the owner has MAX_WORKSPACES_PER_OWNER workspaces.

    Workspaces deleted in the current UTC month count, because each of them had its free credit for the month. Needs a
    transaction.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner_user_id)
    month = timezone.now().astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    deleted_earlier = Q(status=WorkspaceStatus.DELETED, updated_at__lt=month)  # a deleted workspace never changes again
    if Workspace.objects.filter(~deleted_earlier, owner_user_id=owner_user_id).count() >= settings.MAX_WORKSPACES_PER_OWNER:
        raise Conflict(
            f"This owner has reached the limit of {settings.MAX_WORKSPACES_PER_OWNER} workspaces; "
            "those deleted this month count.",
            suggested_action="Use an existing workspace; a deleted one stops counting when the next month (UTC) begins.",
        )


def update_name_and_timezone(*, caller: Caller, workspace_id: str, name: str, default_timezone: str) -> Workspace:
    """Change the workspace's name and time zone. The slug and the times of scheduled posts do not change.

    Allowed for the owner, admins and workspace keys. Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused.
    """
    workspace = selectors.get_workspace_for_role_or_key(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER, Member.Role.ADMIN), write=True
    )
    fields = {"name": name, "default_timezone": default_timezone}
    changed = [field for field, value in fields.items() if getattr(workspace, field) != value]
    with transaction.atomic():
        _change(workspace, fields)
        _record(caller, "workspaces.update", workspace, metadata={"changed": changed})
    return workspace


def update_caps(*, caller: Caller, workspace_id: str, dry_run: bool = False, **caps: int) -> Workspace:
    """Change the workspace's monthly spend cap, its monthly cap on posts with a URL, or both.

    A cap that is not given does not change. A cap may be lower than what is already spent; it then stops further spending.
    Allowed for the owner, admins and workspace keys. Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused, PlanChanged.
    """
    workspace = selectors.get_workspace_for_role_or_key(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER, Member.Role.ADMIN), write=True
    )
    with transaction.atomic():
        before = row_fields(lock_workspace(workspace_id), *WORKSPACE_FIELDS_IN_PLANS)
        accept_plan(ResourcePlan("workspaces.update_caps", workspace_id, before, {**before, **caps}))
        if caps:
            _change(workspace, caps, dry_run=dry_run)
        _record(caller, "workspaces.update_caps", workspace, dry_run=dry_run, metadata=caps)
    return workspace


def load_workspace_and_audit_export(*, caller: Caller, workspace_id: str) -> Workspace:
    """Record that a workspace is exported by its owner or API keys, and return its row.

    Raises ScopeMissing, NotFound, Forbidden.
    """
    workspace = selectors.get_workspace_for_role_or_key(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=False
    )
    _record(caller, "workspaces.export", workspace)
    return workspace


def delete_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Mark a workspace as deleted. Its API keys and agents stop working at once.

    Periodic tasks of the other apps then destroy its secrets, cancel its posts and release held money. Allowed for the
    owner and workspace keys. Raises ScopeMissing, NotFound (also if it is already deleted), Forbidden, WorkspacePaused,
    ReauthenticationRequired, PlanChanged.
    """
    workspace = selectors.get_workspace_for_role_or_key(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER,), write=True
    )
    require_recent_sign_in(caller)
    with transaction.atomic():
        before = row_fields(lock_workspace(workspace_id), "status", *WORKSPACE_FIELDS_IN_PLANS)
        accept_plan(ResourcePlan("workspaces.delete", workspace_id, before, {**before, "status": WorkspaceStatus.DELETED}))
        mark_workspace_deleted(caller=caller, workspace=workspace, dry_run=dry_run)
    return workspace


def mark_workspace_deleted(*, caller: Caller, workspace: Workspace, dry_run: bool = False) -> None:
    """Set the workspace's status to deleted and write the audit entry. Raises NotFound.

    Needs a transaction.
    """
    _change(workspace, {"status": WorkspaceStatus.DELETED}, dry_run=dry_run)
    _record(replace(caller, retention_tier=workspace.retention_tier), "workspaces.delete", workspace, dry_run=dry_run)


def lock_workspace(workspace_id: str) -> Workspace:
    """Lock the workspace's database row, so that members, keys and agents are changed one at a time. Raises NotFound."""
    workspace = selectors.undeleted_workspaces().select_for_update(no_key=True).filter(pk=workspace_id).first()
    if workspace is None:
        raise missing_or_foreign_id_error(None, "workspace")
    return workspace


def pause_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """Pause the workspace, on behalf of its owner or of the operators. These two pauses are independent of each other.

    A pause that already exists keeps its time. Allowed for operators and the signed-in owner. Raises NotFound,
    UserSessionRequired (a key), Forbidden, PlanChanged.
    """
    return _switch_pause(caller, workspace_id, pausing=True, dry_run=dry_run)


def resume_workspace(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> Workspace:
    """End the caller's pause of the workspace, which is the owner's pause or, for an operator, the operators' pause.

    The other pause stays, if there is one. Raises the errors of `pause_workspace`, and WorkspacePaused for an owner if
    only an operator has paused it.
    """
    return _switch_pause(caller, workspace_id, pausing=False, dry_run=dry_run)


def _switch_pause(caller: Caller, workspace_id: str, *, pausing: bool, dry_run: bool) -> Workspace:
    if not caller.is_operator:
        require_role(caller, workspace_id, Member.Role.OWNER, write=False)
    with transaction.atomic():
        rows = selectors.undeleted_workspaces().select_related("owner_user").select_for_update(of=("self",), no_key=True)
        workspace = rows.filter(pk=workspace_id).first()
        if workspace is None:
            raise missing_or_foreign_id_error(None, "workspace")
        verb = "pause" if pausing else "resume"
        operation = f"ops.{verb}_workspace" if caller.is_operator else f"workspaces.{verb}"
        before = row_fields(workspace, "status", "paused_by")
        _set_pause(caller, workspace, pausing=pausing)
        accept_plan(ResourcePlan(operation, workspace.id, before, row_fields(workspace, "status", "paused_by")))
        if not dry_run:
            workspace.save(update_fields=["owner_paused_at", "operator_paused_at", "status", "updated_at"])
        _record(caller, operation, workspace, dry_run=dry_run)
    return workspace


def _set_pause(caller: Caller, workspace: Workspace, *, pausing: bool) -> None:
    now = timezone.now()
    if caller.is_operator:
        workspace.operator_paused_at = (workspace.operator_paused_at or now) if pausing else None
    elif not pausing and workspace.operator_paused_at and not workspace.owner_paused_at:
        raise WorkspacePaused(
            "An operator of the service has paused this workspace, so its owner cannot resume it.",
            suggested_action="Ask the operator of the service.",
        )
    else:
        workspace.owner_paused_at = (workspace.owner_paused_at or now) if pausing else None
    workspace.status = WorkspaceStatus.PAUSED if workspace.paused_by else WorkspaceStatus.ACTIVE
    workspace.updated_at = now


def _unused_slug(name: str) -> str:
    """Return a slug for a new workspace from its name, with a short suffix if another workspace has that slug."""
    base = slugify(name)[:60] or "workspace"
    return _suffixed(base) if Workspace.objects.filter(slug=base).exists() else base


def _suffixed(slug: str) -> str:
    return f"{slug}-{secrets.token_hex(3)}"


def _insert(workspace: Workspace) -> None:
    """Insert a new workspace into the database. If another request has just taken its slug, the slug gets a suffix."""
    try:
        with transaction.atomic():
            workspace.save(force_insert=True)
    except IntegrityError:
        workspace.slug = _suffixed(workspace.slug)
        workspace.save(force_insert=True)


def _provisioners() -> list[WorkspaceCreationHook]:
    return [import_string(path)() for path in settings.WORKSPACE_PROVISIONERS]


def _change(workspace: Workspace, changes: dict[str, Any], *, dry_run: bool = False) -> None:
    """Set fields of a workspace and save them unless this is a dry run. Raises NotFound if it was just deleted."""
    changes = {**changes, "updated_at": timezone.now()}
    for name, value in changes.items():
        setattr(workspace, name, value)
    if dry_run:
        return
    if not selectors.undeleted_workspaces().filter(pk=workspace.pk).update(**changes):
        raise missing_or_foreign_id_error(None, "workspace")
    workspace.refresh_from_db()


def _record(
    caller: Caller, operation: str, workspace: Workspace, *, dry_run: bool = False, metadata: dict[str, Any] | None = None
) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=workspace.id,
        resource_type="workspace",
        resource_id=workspace.id,
        dry_run=dry_run,
        metadata=metadata,
    )
