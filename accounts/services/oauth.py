"""Completing a connection that a person has granted at the platform (OAuth)."""

from __future__ import annotations

from accounts.errors import OAuthStateInvalid
from accounts.models import ConnectedAccount
from config.api.caller import Caller, require


def complete_connection(*, caller: Caller, state: str, code: str, dry_run: bool = False) -> ConnectedAccount:
    """The account that the state's connection attempt was for, connected by the platform's code.

    No platform is offered that is connected by OAuth, so no attempt was ever begun and every state is unknown.
    Raises ScopeMissing, WorkspacePaused, OAuthStateInvalid.
    """
    if caller.workspace_id:
        require(caller, caller.workspace_id, "accounts.write")
    raise OAuthStateInvalid()
