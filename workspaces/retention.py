"""Retention rules for deleted workspaces, sessions, sign-ins, deleted identities, invitations and sent e-mail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone
from social_django.models import Association, Nonce

from config.api.caller import WorkspaceStatus
from config.db.retention import ExpiredRowsRule
from workspaces.models import EndedIdentity, Invitation, OutgoingMail, SignInLink, Workspace

RETENTION_PERIOD = timedelta(days=30)  # longer than any provider's token is valid


def workspaces_to_purge() -> QuerySet[Workspace]:
    """Return the deleted workspaces whose retention period (DELETED_WORKSPACE_DAYS) is over: all apps may purge them."""
    deleted_before = timezone.now() - timedelta(days=settings.DELETED_WORKSPACE_DAYS)
    # A deleted workspace never changes again, so `updated_at` is the time of its deletion.
    return Workspace.objects.filter(status=WorkspaceStatus.DELETED, updated_at__lte=deleted_before)


class PurgedWorkspacesRule(ExpiredRowsRule):
    """The retention rule that deletes workspaces and their members, after the other apps have deleted the workspaces' rows.

    A workspace that is a customer of the payment processor stays until billing clears its customer id, so that nobody
    continues to pay for it. Its audit entries stay until their own retention tier ends.
    """

    name = "workspaces"

    def expired_rows(self) -> QuerySet[Workspace]:
        return workspaces_to_purge().order_by("pk")

    def next_rows_to_delete(self) -> QuerySet[Workspace]:
        rows = self.expired_rows().filter(processor_customer_id="")
        for model in apps.get_models():
            for field in model._meta.concrete_fields:
                if field.related_model is Workspace and model._meta.app_label != Workspace._meta.app_label:
                    rows = rows.exclude(Exists(model._base_manager.filter(**{field.name: OuterRef("pk")})))
        return rows


class ExpiredSessionsRule(ExpiredRowsRule):
    name = "sessions"

    def expired_rows(self) -> QuerySet[Session]:
        return Session.objects.filter(expire_date__lt=timezone.now())


class UnfinishedSignInStatesRule(ExpiredRowsRule):
    """The retention rule that deletes, after a day, the OAuth `state` values of users' unfinished sign-ins.

    They expire in half an hour.
    """

    name = "sign_in_states"

    def expired_rows(self) -> QuerySet[Any]:
        return Nonce.objects.filter(timestamp__lt=int(timezone.now().timestamp()) - 86_400)


class UnfinishedSignInNoncesRule(ExpiredRowsRule):
    """The retention rule that deletes the expired nonces (random OpenID values) of unfinished sign-ins."""

    name = "sign_in_nonces"

    def expired_rows(self) -> QuerySet[Any]:
        return Association.objects.filter(issued__lt=int(timezone.now().timestamp()) - F("lifetime"))


class ExpiredEndedIdentitiesRule(ExpiredRowsRule):
    name = "ended_identities"

    def expired_rows(self) -> QuerySet[EndedIdentity]:
        return EndedIdentity.objects.filter(ended_at__lt=timezone.now() - RETENTION_PERIOD)


class ExpiredSignInLinksRule(ExpiredRowsRule):
    """The retention rule that deletes links for signing in by e-mail a day after they have expired."""

    name = "sign_in_links"

    def expired_rows(self) -> QuerySet[SignInLink]:
        return SignInLink.objects.filter(expires_at__lt=timezone.now() - timedelta(days=1))


class ExpiredInvitationsRule(ExpiredRowsRule):
    """The retention rule that deletes invitations to workspaces that expired more than RETENTION_PERIOD ago."""

    name = "invitations"

    def expired_rows(self) -> QuerySet[Invitation]:
        return Invitation.objects.filter(expires_at__lt=timezone.now() - RETENTION_PERIOD)


class FinishedMailRule(ExpiredRowsRule):
    """The retention rule for old rows of the workspaces app's outgoing mail that was sent or has failed.

    Their content is already deleted.
    """

    name = "mail"

    def expired_rows(self) -> QuerySet[OutgoingMail]:
        return OutgoingMail.objects.filter(due_at=None, created_at__lt=timezone.now() - RETENTION_PERIOD)
