"""The look-up of people whom a post can mention, at the platform of a connected account.

A person types while the platform is asked, so it has little time to answer. Nothing is stored: what a platform shows depends
on the account that asks.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts import selectors
from accounts.errors import platform_error_as_api_error
from accounts.models import ConnectedAccount
from accounts.platforms.errors import PlatformError, ReauthRequired, TokenExpired, Transient
from accounts.platforms.people import MAX_PEOPLE, Person
from accounts.platforms.registry import adapter_or_simulator
from accounts.services.tokens import renew_or_await_tokens
from config.api import rate_limit
from config.api.caller import Caller
from config.api.errors import ValidationFailed
from config.api.request_limits import limit_outbound_threads_and_seconds
from config.db.encryption import SealedValueError
from config.outbound import total_deadline

MAX_TEXT_CHARACTERS = 50
LOOKUP_SECONDS = 2.0
# For each person and for each account. Mastodon counts 60 calls a minute of an account, publishing included.
LOOKUPS_PER_MINUTE = 30
MAX_CHECKS_OF_TOKEN_RENEWAL = 5  # how often to check for tokens that a worker is renewing


def find_people(*, caller: Caller, account_id: str, text: str) -> list[Person]:
    """Find up to MAX_PEOPLE people at the account's platform, by 1 to 50 characters of their name or handle.

    Expired tokens are renewed first; nothing else about the account changes. Raises NotFound, ScopeMissing (Forbidden for a
    user who may not write posts), ValidationFailed (the text), RateLimited, and PlatformFault, CredentialsRejected or
    ConnectionUnavailable if the platform could not be asked.
    """
    account = selectors.get_accessible_account(caller=caller, account_id=account_id, scope="posts.draft", write=False)
    wanted = text.strip().removeprefix("@")
    if not 1 <= len(wanted) <= MAX_TEXT_CHARACTERS:
        raise ValidationFailed.for_field("text", f"Enter 1 to {MAX_TEXT_CHARACTERS} characters of a name or handle.")
    rate_limit.count_or_raise_rate_limited(
        rate_limit.Bucket(f"people:{caller.actor_id}", LOOKUPS_PER_MINUTE),
        rate_limit.Bucket(f"people:{account.id}", LOOKUPS_PER_MINUTE),
    )
    try:
        with limit_outbound_threads_and_seconds(account.workspace_id):
            return _ask(account, wanted)[:MAX_PEOPLE]
    except PlatformError as error:
        raise platform_error_as_api_error(error) from error


def _ask(account: ConnectedAccount, text: str) -> list[Person]:
    """Ask the platform of an account for people to mention, with new tokens if the old ones have expired.

    The renewal of tokens has more time than LOOKUP_SECONDS, because its answer must not be lost.
    """
    if account.status != ConnectedAccount.Status.ACTIVE:
        raise ReauthRequired(gettext_noop("The account is not connected any more."))
    try:
        grant = account.decrypted_grant()
    except SealedValueError as error:
        raise Transient(gettext_noop("The account's tokens cannot be read.")) from error
    adapter = adapter_or_simulator(account.platform, sandbox=account.sandbox)
    try:
        with total_deadline(LOOKUP_SECONDS):
            return adapter.find_people(grant, text)
    except TokenExpired:
        grant = renew_or_await_tokens(account_id=account.id, stale=grant, checks=MAX_CHECKS_OF_TOKEN_RENEWAL)
    with total_deadline(LOOKUP_SECONDS):
        return adapter.find_people(grant, text)
