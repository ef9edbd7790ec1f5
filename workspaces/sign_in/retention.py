"""What signing in, inviting and sending e-mail leave behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import F, QuerySet
from django.utils import timezone
from social_django.models import Association, Nonce

from config.db.retention import ExpiredRows
from workspaces.models import EndedIdentity, Invitation, OutgoingMail

KEPT = timedelta(days=30)  # more than any provider's token lives, and long enough to see what became of a message


class Sessions(ExpiredRows):
    name = "sessions"

    def rows(self) -> QuerySet[Session]:
        return Session.objects.filter(expire_date__lt=timezone.now())


class SignInStates(ExpiredRows):
    """The states of sign-ins that were begun and never finished; they are good for half an hour."""

    name = "sign_in_states"

    def rows(self) -> QuerySet[Any]:
        return Nonce.objects.filter(timestamp__lt=int(timezone.now().timestamp()) - 86_400)


class SignInNonces(ExpiredRows):
    """The nonces of the same."""

    name = "sign_in_nonces"

    def rows(self) -> QuerySet[Any]:
        return Association.objects.filter(issued__lt=int(timezone.now().timestamp()) - F("lifetime"))


class EndedIdentities(ExpiredRows):
    name = "ended_identities"

    def rows(self) -> QuerySet[EndedIdentity]:
        return EndedIdentity.objects.filter(ended_at__lt=timezone.now() - KEPT)


class Invitations(ExpiredRows):
    """Those that nobody has accepted, withdrawn or renewed."""

    name = "invitations"

    def rows(self) -> QuerySet[Invitation]:
        return Invitation.objects.filter(expires_at__lt=timezone.now() - KEPT)


class SettledMail(ExpiredRows):
    """Messages that were sent or given up; what they said went then."""

    name = "mail"

    def rows(self) -> QuerySet[OutgoingMail]:
        return OutgoingMail.objects.filter(due_at=None, created_at__lt=timezone.now() - KEPT)
