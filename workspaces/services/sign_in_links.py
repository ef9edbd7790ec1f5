"""Sign-in by a link in an e-mail (SIGN_IN_BY_EMAIL): who gets a link, what the e-mail says, and the single use of a link.

A request for a link only queues an e-mail (`queue_sign_in_mail_to_address`). The worker that sends it looks up who has the
address. So the answer to a request, and the time that it takes, do not depend on whether anybody has the address.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from config.pages.language import format_date
from workspaces import selectors
from workspaces.models import SignInLink, User
from workspaces.services.mail_message import MailMessage
from workspaces.services.users import record_sign_in_in_audit_log
from workspaces.sign_in.sessions import SignInMethod

LINK_LIFETIME = timedelta(minutes=15)
CONSOLE_BACKEND = "django.core.mail.backends.console.EmailBackend"


def is_sign_in_by_email_offered() -> bool:
    """Return whether people can sign in by a link in an e-mail.

    In production this needs a mail server. In development without one, the e-mail is written to the worker's output.
    """
    is_mail_sent = settings.EMAIL_BACKEND != CONSOLE_BACKEND
    return settings.SIGN_IN_BY_EMAIL and (is_mail_sent or not settings.PRODUCTION)


def create_sign_in_link_message_or_none(*, email: str, next_page: str) -> MailMessage | None:
    """Create a sign-in link for an e-mail address, and return the e-mail that contains it.

    `next_page` is the path to open after the sign-in, or "". Returns None if nobody may sign in with this address.
    """
    is_known = selectors.user_who_signs_in_by_email(email=email) or _may_become_user(email)
    if not is_known or not is_sign_in_by_email_offered():
        return None
    token, expires_at = secrets.token_urlsafe(32), timezone.now() + LINK_LIFETIME
    SignInLink.objects.create(token_sha256=_digest(token), email=email, expires_at=expires_at)
    path = reverse("sign-in-link", args=[token], query={"next": next_page} if next_page else None)
    service = {"service": settings.SPECTACULAR_SETTINGS["TITLE"]}
    return MailMessage(
        subject=gettext("Sign in to %(service)s") % service,
        workspace_name="",
        happened=gettext("Somebody, probably you, wants to sign in to %(service)s with this e-mail address.") % service,
        todo=gettext("Open the link in the browser in which you want to be signed in."),
        button=gettext("Sign in"),
        address=f"{settings.BASE_URL}{path}",
        until=gettext("The link works once, until %(time)s UTC (%(minutes)s minutes).")
        % {"time": format_date(expires_at, "H:i"), "minutes": LINK_LIFETIME // timedelta(minutes=1)},
        reason=gettext("If this was not you, ignore this e-mail: nobody can sign in without the link. Do not pass it on."),
    )


def find_open_sign_in_link(*, token: str) -> SignInLink | None:
    """Return the sign-in link with this token, if it is neither used nor expired."""
    return _open_links(token).first()


def use_up_sign_in_link_or_none(*, token: str, ip: str | None) -> User | None:
    """Use up a sign-in link, record the sign-in, and return the user. The caller begins the session.

    An invited person is created as a user. Returns None if the link is used or expired, or its user may not sign in by it.
    """
    with transaction.atomic():
        if not _open_links(token).update(used_at=timezone.now()):  # of two requests at once, one finds the link unused
            return None
        email = SignInLink.objects.values_list("email", flat=True).get(token_sha256=_digest(token))
        person = selectors.user_who_signs_in_by_email(email=email) or _create_invited_user(email)
        if person is not None:
            record_sign_in_in_audit_log(person, ip, by=SignInMethod.EMAIL)
    return person


def _open_links(token: str) -> QuerySet[SignInLink]:
    return SignInLink.objects.filter(token_sha256=_digest(token), used_at=None, expires_at__gt=timezone.now())


def _create_invited_user(email: str) -> User | None:
    """Create the user of an invited address that opens a sign-in link, or return the user of another link just opened."""
    list(selectors.open_invitations_of_address(email=email).select_for_update(of=("self",)))
    if person := selectors.user_who_signs_in_by_email(email=email):
        return person
    return User.objects.create_user(email=email, email_verified=True) if _may_become_user(email) else None


def _may_become_user(email: str) -> bool:
    """Return whether a sign-in link creates a user: the address is invited, and no operator or closed account has it."""
    is_taken = User.objects.filter(email=email, email_verified=True).exists()
    return not is_taken and selectors.open_invitations_of_address(email=email).exists()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
