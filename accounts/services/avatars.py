"""Avatars: small copies of accounts' profile pictures, which a periodic task fetches from the platforms.

A picture is fetched after an account is connected and then once a week. The next attempt is scheduled before the picture is
fetched, so that a picture which ends its worker is not tried again at once. A failure keeps the old picture.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import Avatar, ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.errors import PlatformError, TokenExpired
from accounts.platforms.registry import adapter_or_simulator
from accounts.platforms.thumbnails import square_webp_or_none
from accounts.platforms.types import Grant, Identity
from accounts.platforms.web_pages import PageUnavailable, fetch_picture_bytes
from accounts.services.tokens import renew_or_await_tokens
from config.db.connection import close_connection_before_waiting
from config.db.encryption import SealedValueError
from config.jobs.backoff import exponential_retry_pause
from config.outbound import total_deadline

logger = logging.getLogger(__name__)
REFETCH_AFTER = timedelta(days=7)
FIRST_PAUSE_SECONDS = 600.0  # after a failure, doubled with each further one
MAX_SOURCE_BYTES = 1_000_000
PICTURE_SECONDS = 5.0
PLATFORM_SECONDS = 3.0  # for the question where the picture is
IDENTITY_VALID_FOR = timedelta(minutes=10)  # the address that was read then is used without asking the platform again


def schedule_avatar_fetch(account: ConnectedAccount) -> None:
    """Schedule the profile picture of an account for the next run of the periodic task; sandbox accounts have none."""
    if not account.sandbox:
        now = {"due_at": timezone.now(), "failures": 0}
        Avatar.objects.update_or_create(account_id=account.pk, defaults=now)


def avatar_url_from_identity_or_previous(account: ConnectedAccount, identity: Identity) -> str:
    """Return the URL of an account's profile picture from its identity, or the stored URL if the profile was not read.

    An identity with neither picture nor name means that the profile could not be read.
    """
    known = identity.avatar_url or identity.display_name
    return identity.avatar_url[:2048] if known else account.avatar_url


def fetch_due_avatars(*, limit: int = 100, seconds: float = 10.0) -> int:
    """Fetch the profile pictures of accounts that are due; returns the number of accounts whose picture is now current.

    Handles at most `limit` accounts, and begins no further one after `seconds`. Handles one account of each workspace, so
    that accounts at slow servers do not use up the time of other workspaces. Failures are logged and tried again later.
    """
    ends = time.monotonic() + seconds
    fetched, workspace_ids = 0, set[str]()
    for _ in range(limit):
        avatar = _claim(workspace_ids) if time.monotonic() < ends else None
        if avatar is None:
            break
        workspace_ids.add(avatar.account.workspace_id)
        try:
            _fetch(avatar)
        except (PlatformError, PageUnavailable, SealedValueError) as error:
            logger.info("The avatar of %s was not fetched: %s", avatar.account_id, error)
        except Exception:
            logger.exception("The avatar of %s could not be fetched.", avatar.account_id)
        else:
            fetched += 1
    return fetched


def _claim(without_workspaces: Collection[str]) -> Avatar | None:
    """Reserve the avatar that has been due for longest, so that only one worker fetches it, and return it.

    Leaves out accounts of the workspaces `without_workspaces`. The `due_at` of the result is the time of the next attempt,
    which identifies the reservation.
    """
    connected = Avatar.objects.exclude(account__status=ConnectedAccount.Status.DISCONNECTED).select_related("account")
    others = connected.exclude(account__workspace__in=without_workspaces)
    due = others.filter(due_at__lte=timezone.now()).order_by("due_at", "pk").defer("content")
    while avatar := due.first():
        pause = exponential_retry_pause(avatar.failures + 1, first=FIRST_PAUSE_SECONDS, longest=REFETCH_AFTER.total_seconds())
        next_attempt, failures = timezone.now() + pause, min(avatar.failures + 1, 100)
        if Avatar.objects.filter(pk=avatar.pk, due_at=avatar.due_at).update(due_at=next_attempt, failures=failures):
            avatar.due_at = next_attempt
            return avatar
    return None


def _fetch(avatar: Avatar) -> None:
    """Fetch and store the profile picture of an account. Raises PlatformError, PageUnavailable, SealedValueError."""
    close_connection_before_waiting()
    url = _url_at_platform(avatar.account)
    content = b""
    if url:
        content = square_webp_or_none(fetch_picture_bytes(url, seconds=PICTURE_SECONDS, max_bytes=MAX_SOURCE_BYTES)) or b""
        if not content:
            raise PageUnavailable(gettext_noop("is not a picture that can be read"))
    _store(avatar, url, content)


def _url_at_platform(account: ConnectedAccount) -> str:
    """Return the platform's current URL of an account's profile picture; asks the platform, because many URLs expire.

    Platforms that bill such questions are not asked; the address is then as it was at the connection or the last check.
    """
    adapter = adapter_or_simulator(account.platform, sandbox=account.sandbox)
    recently_read = account.last_checked_at and account.last_checked_at > timezone.now() - IDENTITY_VALID_FOR
    if recently_read or adapter.bills_reads_of_accounts:
        return account.avatar_url
    grant = account.decrypted_grant()
    try:
        return _asked_url(adapter, account, grant)
    except TokenExpired:
        return _asked_url(adapter, account, renew_or_await_tokens(account_id=account.pk, stale=grant))


def _asked_url(adapter: Platform, account: ConnectedAccount, grant: Grant) -> str:
    with total_deadline(PLATFORM_SECONDS):
        return avatar_url_from_identity_or_previous(account, adapter.check_and_identify(grant))


def _store(avatar: Avatar, url: str, content: bytes) -> None:
    """Store an account's fetched picture, unless a new fetch was scheduled or the account was disconnected meanwhile.

    Deletes the row of a disconnected account, which a release without avatars leaves.
    """
    now = timezone.now()
    digest = hashlib.sha256(content).hexdigest()[:16] if content else ""
    fetched = {"content": content, "source_url": url, "fetched_at": now, "due_at": now + REFETCH_AFTER, "failures": 0}
    account = ConnectedAccount.objects.filter(pk=avatar.pk)
    with transaction.atomic():
        # The account is locked before its avatar, in the same order as when it is connected, checked or disconnected.
        status = account.select_for_update(no_key=True).values_list("status", flat=True).first()
        if status == ConnectedAccount.Status.DISCONNECTED:
            Avatar.objects.filter(pk=avatar.pk).delete()
        elif Avatar.objects.filter(pk=avatar.pk, due_at=avatar.due_at).update(**fetched):
            account.update(avatar_digest=digest, avatar_url=url)
