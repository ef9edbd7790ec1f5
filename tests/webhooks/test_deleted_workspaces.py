"""Signing secrets of deleted workspaces are deleted, and their deliveries are no longer signed."""

from __future__ import annotations

from config.api.caller import system_caller
from tests.factories import WorkspaceFactory
from tests.fakes.receiver import Receiver
from tests.webhooks.rows import make_delivery
from tests.webhooks.sending import deliver_until_idle
from webhooks import services
from webhooks.models import SigningSecret
from webhooks.tasks import destroy_secrets_of_deleted_workspaces
from workspaces.models import Workspace


def test_the_secret_is_deleted_and_not_created_again(workspace: Workspace, receiver: Receiver) -> None:
    other = WorkspaceFactory.create()
    for one in (workspace, other):
        services.get_or_create_and_audit_signing_secret(caller=system_caller(one.id), workspace_id=one.id)
    waiting = make_delivery(workspace, receiver.url)
    assert destroy_secrets_of_deleted_workspaces() == 0
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")

    assert [destroy_secrets_of_deleted_workspaces() for _ in range(2)] == [1, 0]
    deliver_until_idle()

    assert list(SigningSecret.objects.values_list("pk", flat=True)) == [other.pk]
    waiting.refresh_from_db()
    assert (waiting.status, waiting.last_error) == ("dead_letter", "The workspace was deleted.")
    assert list(receiver.requests) == []
