"""The sandbox adapter, which simulates a platform and sends no requests; markers in texts make it raise errors.

Markers in a post's text, or in the text of a thread's segment, let callers test how they handle failures:

- `[sandbox:reject]` is refused, `[sandbox:reauth]` requires reconnection, `[sandbox:unknown]` ends with an unknown outcome;
- `[sandbox:rate_limit]` and `[sandbox:outage]` fail at every attempt, `[sandbox:flaky]` at the first one only;
- `[sandbox:slow]` takes five seconds, then publishes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.base import Platform
from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.http.responses import one_line
from accounts.platforms.people import Person
from accounts.platforms.thread_option import thread_texts_including_first
from accounts.platforms.types import Content, Grant, Identity, Progress, Published

SLOW_DELAY = timedelta(seconds=5)


class Sandbox(Platform):
    """The adapter that simulates a platform: it has the platform's name, label and capabilities, but publishes nothing.

    Simulating a post again does no harm, so no phase is irreversible and an interrupted one is resumed.
    """

    def __init__(self, platform: Platform) -> None:
        # These are ClassVars of the base class, but this one class simulates every platform.
        self.name = platform.name  # type: ignore[misc]
        self.label = platform.label  # type: ignore[misc]
        self.capabilities = platform.capabilities  # type: ignore[misc]

    def identity_for_workspace(self, workspace_id: str) -> Identity:
        """Return the identity of a workspace's sandbox account on the simulated platform."""
        return self._identity(f"sandbox-{workspace_id}")

    def check_and_identify(self, grant: Grant) -> Identity:
        """Return the identity of a sandbox account, made from the `external_id` that is stored with its secrets."""
        return self._identity(grant.external_id)

    def refresh_grant(self, grant: Grant) -> Grant:
        """Return the secrets of a sandbox account unchanged, because a sandbox account has no OAuth tokens to renew."""
        return grant

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Simulate publishing a post of a sandbox account, or raise the error that a marker in the post's text asks for."""
        sent, texts = progress.segments, thread_texts_including_first(content)
        text = texts[len(sent)]
        if fault := _fault(text, content.attempt):
            raise fault
        if progress.phase == "start" and "[sandbox:slow]" in text:
            return progress.with_next_step("publish", progress.state, ready_at=timezone.now() + SLOW_DELAY)
        if len(sent) + 1 < len(texts):
            sent = (*sent, f"sandbox-{content.key}-{len(sent) + 1}")
            return replace(progress, segments=sent).with_next_step("start", {})
        return Published(external_id=f"sandbox-{content.key}", permalink=f"https://sandbox.invalid/{self.name}/{content.key}")

    def find_people(self, grant: Grant, text: str) -> list[Person]:
        """Return one invented person for the sandbox adapter, with the searched text as name and a made-up handle."""
        word = "".join(char for char in text.lower() if char.isascii() and char.isalnum())
        return [Person(f"@{word or 'somebody'}.sandbox.example", f"{one_line(text)} (invented)")]

    def _identity(self, external_id: str) -> Identity:
        return Identity(external_id, handle=f"sandbox.{self.name}", display_name=f"{self.label} sandbox")


def _fault(text: str, attempt: int) -> PlatformError | None:
    """Return the error that a marker such as [sandbox:reject] in a sandbox post's text asks for, otherwise None."""
    faults: dict[str, PlatformError] = {
        "reject": ContentRejected(gettext_noop("The sandbox rejects this post, as its text asks.")),
        "rate_limit": RateLimited(gettext_noop("The sandbox's rate limit is used up, as the text asks.")),
        "outage": Transient(gettext_noop("The sandbox is down, as the text asks.")),
        "reauth": ReauthRequired(gettext_noop("The sandbox no longer takes the account's credentials, as the text asks.")),
        "unknown": OutcomeUnknown(
            gettext_noop("The sandbox does not say whether it published, as the text asks."), final=True
        ),
    }
    if attempt == 1:
        faults["flaky"] = Transient(gettext_noop("The sandbox fails at the first attempt, as the text asks."))
    return next((fault for marker, fault in faults.items() if f"[sandbox:{marker}]" in text), None)
