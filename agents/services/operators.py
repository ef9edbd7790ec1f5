"""Actions of operators on API keys of any workspace."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from agents import tokens
from agents.models import ApiKey
from auditlog.services import record
from config.api.caller import Caller, not_found_error, require_operator


def revoke_key_as_operator(
    *, caller: Caller, token: str | None = None, api_key_id: str | None = None, dry_run: bool = False
) -> ApiKey:
    """Revoke the API key with this token or id as an operator. Revoking it again changes nothing.

    Raises Forbidden (not an operator), ValidationFailed on `token` or `id` if the key does not exist.
    """
    require_operator(caller)
    lookup = {"token_sha256": tokens.digest(token)} if token is not None else {"pk": api_key_id}
    with transaction.atomic():
        key = ApiKey.objects.select_related("agent").select_for_update(of=("self",)).filter(**lookup).first()
        if key is None:
            raise not_found_error("id" if token is None else "token", "API key")
        if key.revoked_at is None:
            key.revoked_at = timezone.now()
            if not dry_run:
                key.save(update_fields=["revoked_at", "updated_at"])
        record(
            caller=caller,
            operation="ops.revoke_key",
            workspace_id=key.workspace_id,
            resource_type="api_key",
            resource_id=key.id,
            dry_run=dry_run,
        )
    return key
