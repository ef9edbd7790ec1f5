"""Creation of the sandbox accounts that every new workspace gets, one for each platform.

They are listed in settings.WORKSPACE_PROVISIONERS.
"""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, all_adapters
from accounts.platforms.sandbox import Sandbox
from workspaces.models import Workspace


class SandboxAccountProvisioner:
    """Creates a workspace's sandbox accounts, whose posts are simulated, so that callers can test without a platform."""

    def preview(self) -> dict[str, Any]:
        return {"sandbox_accounts": {"count": len(PLATFORMS), "platforms": list(PLATFORMS)}}

    def create_rows_for_workspace(self, *, workspace: Workspace) -> None:
        ConnectedAccount.objects.bulk_create(
            ConnectedAccount(
                workspace=workspace,
                platform=each.name,
                method=ConnectedAccount.Method.CREDENTIALS,
                sandbox=True,
                external_id=identity.external_id,
                handle=identity.handle,
                display_name=identity.display_name,
            )
            for each in all_adapters()
            for identity in [Sandbox(each).identity_for_workspace(workspace.id)]
        )
