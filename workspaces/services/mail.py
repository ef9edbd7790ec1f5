"""Services that queue outgoing e-mail, and send it from a worker through Django's mail backend (EMAIL_URL).

A message may be sent twice if a worker dies after sending it and before saving that. Addresses are never logged.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone
from django.utils.translation import get_language, override

from config.jobs.claims import claim_due, claimed_row_queryset
from config.jobs.wake_up import wake_worker_loop_after_commit
from workspaces.models import OutgoingMail
from workspaces.services.mail_message import MailMessage
from workspaces.services.sign_in_links import LINK_LIFETIME, create_sign_in_link_message_or_none

logger = logging.getLogger(__name__)
MAIL_LOOP = "mail"
MAIL_LEASE = timedelta(minutes=2)  # the lease of a claimed message: several times EMAIL_TIMEOUT
RETRY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360))  # pauses after each failed attempt
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1


def queue_mail(*, to: str, message: MailMessage) -> OutgoingMail:
    """Queue an e-mail in plain text and HTML, to be sent by a worker after the caller's transaction has committed.

    Line breaks in the subject become spaces.
    """
    mail = OutgoingMail.objects.create(content=_content(to, message), due_at=timezone.now())
    wake_worker_loop_after_commit(MAIL_LOOP)
    return mail


def queue_sign_in_mail_to_address(*, to: str, next_page: str) -> None:
    """Queue the e-mail with a sign-in link that somebody has requested for an address, even if no user has the address.

    The worker creates the link when it sends the e-mail, and sends nothing if nobody may sign in with the address.
    """
    OutgoingMail.objects.create(
        content={"to": to, "language": get_language(), "sign_in": {"next_page": next_page}}, due_at=timezone.now()
    )
    wake_worker_loop_after_commit(MAIL_LOOP)


def claim_next_mail() -> OutgoingMail | None:
    """Reserve for this worker the queued e-mail that has been due longest.

    E-mails that were tried too often are marked as failed.
    """
    while claimed := claim_due(OutgoingMail.objects.all(), limit=1, lease=MAIL_LEASE):
        [mail] = claimed
        if mail.attempts < MAX_ATTEMPTS:
            mail.attempts += 1
            claimed_row_queryset(OutgoingMail.objects.all(), mail).update(attempts=mail.attempts)
            return mail
        _give_up(mail, "no attempt finished")
    return None


def send_claimed_mail(mail: OutgoingMail) -> None:
    """Send a reserved e-mail and save the result. A failed e-mail is tried again later, up to MAX_ATTEMPTS times in all."""
    try:
        email = _email_to_send(mail)
        if email is None:
            claimed_row_queryset(OutgoingMail.objects.all(), mail).delete()
            return
        email.send()
    except Exception as error:  # a mail backend may raise anything
        code = _permanent_refusal(error)
        if code:  # the address does not exist, or the server does not take this content: a retry is useless
            _give_up(mail, f"refused with {code}")
        else:
            _retry_later(mail, error)
    else:
        _finish(mail, sent_at=timezone.now(), last_error="")


def _content(to: str, message: MailMessage) -> dict[str, str]:
    return {
        "to": to,
        "subject": " ".join(message.subject.split()),
        "text": message.plain_text(),
        "html": message.html(),
        "choices_address": message.choices_address,
    }


def _email_to_send(mail: OutgoingMail) -> EmailMultiAlternatives | None:
    """Return the e-mail to send for a queued row; None for a sign-in link that is too late or that nobody may use."""
    content: Any = mail.content
    if "sign_in" not in content:
        return _email_of_content(content)
    is_waited_for = timezone.now() - mail.created_at < LINK_LIFETIME
    with override(content.get("language", settings.LANGUAGE_CODE)):  # that of the page on which it was requested
        message = create_sign_in_link_message_or_none(email=content["to"], **content["sign_in"]) if is_waited_for else None
        return _email_of_content(_content(content["to"], message)) if message else None


def _email_of_content(content: Any) -> EmailMultiAlternatives:
    """Return the e-mail of a queued row: both versions, and headers that keep automatic answers away (RFC 3834)."""
    headers = {"Auto-Submitted": "auto-generated"}
    if content.get("choices_address"):
        headers["List-Unsubscribe"] = f"<{content['choices_address']}>"
    email = EmailMultiAlternatives(content["subject"], content["text"], to=[content["to"]], headers=headers)
    if content.get("html"):  # an earlier version of the service queued plain text only
        email.attach_alternative(content["html"], "text/html")
    return email


def _permanent_refusal(error: Exception) -> int | None:
    """Return the code (5xx) of the mail server if it refused the recipient or the content permanently; None otherwise."""
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    else:
        codes = [error.smtp_code] if isinstance(error, SMTPDataError) else []
    return codes[0] if codes and all(code >= 500 for code in codes) else None


def _retry_later(mail: OutgoingMail, error: Exception) -> None:
    if mail.attempts == MAX_ATTEMPTS:
        _give_up(mail, type(error).__name__)
        return
    due_at, fault = timezone.now() + RETRY_DELAYS[mail.attempts - 1], type(error).__name__
    claimed_row_queryset(OutgoingMail.objects.all(), mail).update(due_at=due_at, lease_until=None, last_error=fault)
    logger.warning("Attempt %d to send message %s failed and is retried later: %s", mail.attempts, mail.pk, fault)


def _give_up(mail: OutgoingMail, fault: str) -> None:
    _finish(mail, last_error=fault)
    logger.error("Message %s is given up: %s.", mail.pk, fault)


def _finish(mail: OutgoingMail, **outcome: object) -> None:
    """Mark an outgoing e-mail as sent or failed and delete its content."""
    claimed_row_queryset(OutgoingMail.objects.all(), mail).update(due_at=None, lease_until=None, content=None, **outcome)
