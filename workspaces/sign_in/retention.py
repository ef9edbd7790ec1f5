"""Retention rules for sessions, sign-in states, deleted identities, invitations and sent e-mail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import F, QuerySet
from django.utils import timezone
from social_django.models import Association, Nonce

from config.db.retention import ExpiredRows
from workspaces.models import EndedIdentity, Invitation, OutgoingMail

RETENTION_PERIOD = timedelta(days=30)  # longer than any provider's token is valid


class ExpiredSessions(ExpiredRows):
    name = "sessions"

    def expired_rows(self) -> QuerySet[Session]:
        return Session.objects.filter(expire_date__lt=timezone.now())


class UnfinishedSignInStates(ExpiredRows):
    """Deletes the states of unfinished sign-ins after a day; they are valid for half an hour."""

    name = "sign_in_states"

    def expired_rows(self) -> QuerySet[Any]:
        return Nonce.objects.filter(timestamp__lt=int(timezone.now().timestamp()) - 86_400)


class UnfinishedSignInNonces(ExpiredRows):
    """Deletes the nonces of unfinished sign-ins."""

    name = "sign_in_nonces"

    def expired_rows(self) -> QuerySet[Any]:
        return Association.objects.filter(issued__lt=int(timezone.now().timestamp()) - F("lifetime"))


class ExpiredEndedIdentities(ExpiredRows):
    name = "ended_identities"

    def expired_rows(self) -> QuerySet[EndedIdentity]:
        return EndedIdentity.objects.filter(ended_at__lt=timezone.now() - RETENTION_PERIOD)


class ExpiredInvitations(ExpiredRows):
    """Deletes invitations that expired more than RETENTION_PERIOD ago."""

    name = "invitations"

    def expired_rows(self) -> QuerySet[Invitation]:
        return Invitation.objects.filter(expires_at__lt=timezone.now() - RETENTION_PERIOD)


class FinishedMail(ExpiredRows):
    """Deletes the rows of e-mails that were sent or given up; their content was deleted then."""

    name = "mail"

    def expired_rows(self) -> QuerySet[OutgoingMail]:
        return OutgoingMail.objects.filter(due_at=None, created_at__lt=timezone.now() - RETENTION_PERIOD)
