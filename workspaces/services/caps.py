"""Change a workspace's monthly caps."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, not_found_error
from workspaces import selectors
from workspaces.models import Member, Workspace


def update_caps(*, caller: Caller, workspace_id: str, dry_run: bool = False, **caps: int) -> Workspace:
    """Set `monthly_spend_cap_cents`, `monthly_social_url_post_cap` or both; a cap that is not given does not change.

    A cap may be lower than what is already spent; it then stops further spending. Allowed for the owner, admins and
    workspace keys. Raises ScopeMissing, NotFound, Forbidden, WorkspacePaused.
    """
    workspace = selectors.authorized_workspace(
        caller=caller, workspace_id=workspace_id, roles=(Member.Role.OWNER, Member.Role.ADMIN), write=True
    )
    changes = {**caps, "updated_at": timezone.now()} if caps else {}
    with transaction.atomic():
        if changes and not dry_run:
            if not selectors.live_workspaces().filter(pk=workspace.pk).update(**changes):
                raise not_found_error(None, "workspace")
            workspace.refresh_from_db()
        for name, value in changes.items():
            setattr(workspace, name, value)
        record(
            caller=caller,
            operation="workspaces.update_caps",
            workspace_id=workspace.id,
            resource_type="workspace",
            resource_id=workspace.id,
            dry_run=dry_run,
            metadata=caps,
        )
    return workspace
