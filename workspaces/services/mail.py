"""Outgoing e-mail: rows that are due, sent by a worker through Django's mail backend (EMAIL_URL).

A message may go out twice when a worker dies between sending it and saying so. Addresses stand in no log.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPRecipientsRefused
from typing import Any

from django.core.mail import EmailMessage
from django.utils import timezone

from config.jobs.due import claim_due, held
from config.jobs.wake_up import wake
from workspaces.models import OutgoingMail

logger = logging.getLogger(__name__)
LOOP = "mail"
LEASE = timedelta(minutes=2)  # several times what a server may take (EMAIL_TIMEOUT)
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360))  # after each attempt that failed
ATTEMPTS = len(PAUSES) + 1


def queue_mail(*, to: str, subject: str, text: str) -> OutgoingMail:
    """Have a plain message sent, once the caller's transaction has committed. Line breaks in `subject` become spaces."""
    content = {"to": to, "subject": " ".join(subject.split()), "text": text}
    mail = OutgoingMail.objects.create(content=content, due_at=timezone.now())
    wake(LOOP)
    return mail


def claim_mail() -> OutgoingMail | None:
    """Claim the message that has been due longest, for its next attempt; what ended its workers each time is given up."""
    while claimed := claim_due(OutgoingMail.objects.all(), limit=1, lease=LEASE):
        [mail] = claimed
        if mail.attempts < ATTEMPTS:
            mail.attempts += 1
            held(OutgoingMail.objects.all(), mail).update(attempts=mail.attempts)
            return mail
        _give_up(mail, "no attempt came to an end")
    return None


def send_mail(mail: OutgoingMail) -> None:
    """Send a claimed message and settle its row; an attempt that fails is put off, the last one given up."""
    try:
        content: Any = mail.content
        EmailMessage(content["subject"], content["text"], to=[content["to"]]).send()
    except SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        if all(code >= 500 for code in codes):  # the server knows no such address: no further attempt will change that
            _give_up(mail, f"refused with {codes[0]}")
        else:
            _put_off(mail, error)
    except Exception as error:  # whatever a mail backend raises
        _put_off(mail, error)
    else:
        _settle(mail, sent_at=timezone.now(), last_error="")


def _put_off(mail: OutgoingMail, error: Exception) -> None:
    if mail.attempts == ATTEMPTS:
        _give_up(mail, type(error).__name__)
        return
    due_at, fault = timezone.now() + PAUSES[mail.attempts - 1], type(error).__name__
    held(OutgoingMail.objects.all(), mail).update(due_at=due_at, lease_until=None, last_error=fault)
    logger.warning("Attempt %d to send the message %s failed, it is tried again: %s", mail.attempts, mail.pk, fault)


def _give_up(mail: OutgoingMail, fault: str) -> None:
    _settle(mail, last_error=fault)
    logger.error("The message %s is given up: %s.", mail.pk, fault)


def _settle(mail: OutgoingMail, **outcome: object) -> None:
    """Nothing is left to do, and nothing of what it said is left."""
    held(OutgoingMail.objects.all(), mail).update(due_at=None, lease_until=None, content=None, **outcome)
