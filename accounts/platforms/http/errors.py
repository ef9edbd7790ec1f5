"""Translation of failed calls into the errors of accounts/platforms/errors.py.

One translator per platform. What all platforms have in common is decided here: 429 is the rate limit, 401 an expired
token, 5xx and an unreachable server pass by themselves, and an error that nobody has documented is reported to the operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Generic, TypeVar

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
    unmapped,
)
from accounts.platforms.http.responses import ApiError
from config.outbound import NoAnswer, NotSent, OutboundError

E = TypeVar("E", bound=ApiError)

# Statuses by which a server refuses the content of a request.
CONTENT_STATUSES = frozenset({400, 403, 404, 409, 413, 415, 422})


class ErrorTranslator(Generic[E]):
    """Says what a platform's errors mean. Subclasses override the methods that ask about their platform."""

    name: ClassVar[str]  # in the registry
    label: ClassVar[str]  # as people know it
    error: ClassVar[type[ApiError]]
    content_statuses: ClassVar[frozenset[int]] = CONTENT_STATUSES
    unreachable: ClassVar[str] = ""  # where "<label> could not be reached." does not fit

    def specific(self, error: E) -> PlatformError | None:
        """What only this platform means by an error, whatever the call was; None for all other errors."""
        return None

    def rejects_content(self, error: E) -> bool:
        """Whether an error that `specific` does not explain is about what was sent, if the call sent content."""
        return error.status in self.content_statuses and (error.from_api or error.status == 413)

    def may_have_effect(self, error: E) -> bool:
        """Whether a call that was answered with this error may have done what it asked for."""
        return error.status >= 500

    def is_documented(self, error: E) -> bool:
        """Whether a refusal of content is one that the adapter was written for; others are reported to the operator."""
        return True

    @contextmanager
    def platform_errors(self) -> Iterator[None]:
        """Translate the errors of calls that may safely be repeated."""
        try:
            yield
        except OutboundError as error:
            raise self.platform_error(error) from error
        except self.error as error:
            raise self.platform_error(error) from error  # type: ignore[arg-type]

    @contextmanager
    def content_errors(self, what: str) -> Iterator[None]:
        """As `platform_errors`, for calls that the platform may refuse because of `what` they send ("this image")."""
        try:
            yield
        except OutboundError as error:
            raise self.platform_error(error) from error
        except self.error as error:
            raise self.refusal(error, what) from error  # type: ignore[arg-type]

    @contextmanager
    def publish_errors(self, what: str, *, final: bool = False) -> Iterator[None]:
        """As `content_errors`, for the call that publishes: raises OutcomeUnknown if it may have had its effect.

        `final`: the platform cannot be asked whether it had.
        """
        try:
            yield
        except NotSent as error:
            raise self.platform_error(error) from error
        except NoAnswer as error:
            raise OutcomeUnknown(f"{self.label} did not say whether it published {what}.", final=final) from error
        except self.error as error:
            if self.may_have_effect(error):  # type: ignore[arg-type]
                message = f"{self.label} answered {error.status} and may have published {what}."
                raise OutcomeUnknown(message, final=final) from error
            raise self.refusal(error, what) from error  # type: ignore[arg-type]

    def platform_error(self, error: OutboundError | E) -> PlatformError:
        """What a failed call means if it had no effect."""
        if isinstance(error, OutboundError):
            return Transient(self.unreachable or f"{self.label} could not be reached.")
        return self._meaning(error) or self._undocumented(error)

    def refusal(self, error: E, what: str) -> PlatformError:
        """As `platform_error`, for a call that sent `what`."""
        meaning = self._meaning(error)
        if meaning is not None or not self.rejects_content(error):
            return meaning or self._undocumented(error)
        if not self.is_documented(error):
            unmapped(self.name, f"{error.status} {error.code}".strip())
        return ContentRejected(f"{self.label} does not accept {what}: {error.reason}")

    def transient(self, error: E) -> Transient:
        """A failure that a later attempt may not meet."""
        return Transient(f"{self.label} answered {error.status}: {error.reason}", retry_after=error.retry_after)

    def _meaning(self, error: E) -> PlatformError | None:
        if specific := self.specific(error):
            return specific
        if error.status == 429:
            return RateLimited(f"{self.label}'s rate limit is reached.", retry_after=error.retry_after)
        if error.status == 401:
            return TokenExpired(f"{self.label} no longer accepts the access token.")
        return self.transient(error) if error.status >= 500 else None

    def _undocumented(self, error: E) -> PlatformError:
        unmapped(self.name, f"{error.status} {error.code}".strip())
        return self.transient(error)
