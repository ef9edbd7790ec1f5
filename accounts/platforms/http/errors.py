"""The base class of platforms' HTTP errors, and their translation into the platform errors of accounts/platforms/errors.py.

Each platform has a translator. Rules that apply to all platforms are here: 429 is the rate limit, 401 an expired token, 5xx
and an unreachable server are temporary, and an error that nobody has documented is reported to the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Generic, TypeVar

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
    report_unknown_error_code,
)
from accounts.platforms.http.responses import NO_REASON, json_object_or_none, line_without_tokens, wait_seconds_from_headers
from config.outbound import OutboundError, Response, SentWithoutAnswer

E = TypeVar("E", bound="PlatformHttpError")

# Statuses by which a server refuses the content of a request.
CONTENT_STATUSES = frozenset({400, 403, 404, 409, 413, 415, 422})


class PlatformHttpError(Exception):
    """The base class of exceptions for HTTP error responses of a platform's API.

    `status` is the HTTP status, `code` the platform's name or number for the error (empty if it gave none), `reason` its
    explanation as one safe line, `retry_after` the seconds that it asks to wait, if any. `from_api` is false if the body is
    no JSON object: a proxy or firewall answered, not the API. Adapters subclass this to read their platform's error format.
    """

    def __init__(self, response: Response, *, code: str = "", reason: Any = "", reset_headers: tuple[str, ...] = ()) -> None:
        self.status = response.status
        self.code = code
        self.reason = line_without_tokens(reason) or NO_REASON
        self.from_api = bool(json_object_or_none(response))
        self.retry_after = wait_seconds_from_headers(response, *reset_headers)
        super().__init__(f"{self.status} {self.code}: {self.reason}")


class ErrorTranslator(Generic[E]):
    """Base class that turns HTTP errors of a platform's API into PlatformErrors; subclasses know the API's error codes."""

    name: ClassVar[str]  # the platform's name in the registry
    label: ClassVar[str]  # the platform's name for people
    error: ClassVar[type[PlatformHttpError]]
    content_statuses: ClassVar[frozenset[int]] = CONTENT_STATUSES
    documented_codes: ClassVar[frozenset[str] | None] = None  # of refusals of content; None: all codes are documented
    unreachable: ClassVar[str] = ""  # the message if "<label> could not be reached." does not fit

    def platform_specific_error(self, error: E) -> PlatformError | None:
        """Return the PlatformError for an HTTP error with a platform-specific meaning; None for other errors."""
        return None

    def means_content_rejected(self, error: E) -> bool:
        """Return whether an HTTP error means that the platform refuses a post's content, judged by the status by default."""
        return error.status in self.content_statuses and (error.from_api or error.status == 413)

    def request_may_have_taken_effect(self, error: E) -> bool:
        """Return whether the platform may have carried out the request although it answered with this HTTP error."""
        return error.status >= 500

    def is_documented_refusal(self, error: E) -> bool:
        """Return whether the platform's API documentation lists the error code with which the platform refused content.

        Other codes are reported to the operator.
        """
        return self.documented_codes is None or error.code in self.documented_codes

    def translating_repeatable_call_errors(self) -> AbstractContextManager[None]:
        """Return a context manager that turns HTTP errors into PlatformErrors, for API calls that are safe to repeat."""
        return self._translated(self.translate_repeatable_call_error)

    def translating_content_call_errors(self, what: str) -> AbstractContextManager[None]:
        """Return a context manager that turns HTTP errors into PlatformErrors, for calls that send a post's text or media.

        `what` names the content in messages, such as "this image".
        """
        return self._translated(lambda error: self.translate_content_call_error(error, what))

    def translating_publish_errors(self, what: str, *, final: bool = False) -> AbstractContextManager[None]:
        """Return a context manager that turns HTTP errors into PlatformErrors, for the call that publishes a post.

        Raises OutcomeUnknown if the call may have had an effect. `final`: the platform cannot be asked about that.
        """

        def translate(error: OutboundError | E) -> PlatformError:
            if isinstance(error, SentWithoutAnswer):
                return OutcomeUnknown(f"{self.label} did not say whether it published {what}.", final=final)
            if isinstance(error, PlatformHttpError) and self.request_may_have_taken_effect(error):
                return OutcomeUnknown(f"{self.label} answered {error.status} and may have published {what}.", final=final)
            return self.translate_content_call_error(error, what)

        return self._translated(translate)

    def translate_repeatable_call_error(self, error: OutboundError | E) -> PlatformError:
        """Return the PlatformError for the HTTP error of an API call that is safe to repeat, such as a call that reads."""
        if isinstance(error, OutboundError):
            return Transient(self.unreachable or f"{self.label} could not be reached.")
        return self._meaning(error) or self._undocumented(error)

    def translate_content_call_error(self, error: OutboundError | E, what: str) -> PlatformError:
        """Return the PlatformError for the HTTP error of a call with content: ContentRejected if the content is refused."""
        if isinstance(error, OutboundError):
            return self.translate_repeatable_call_error(error)
        meaning = self._meaning(error)
        if meaning is not None or not self.means_content_rejected(error):
            return meaning or self._undocumented(error)
        if not self.is_documented_refusal(error):
            report_unknown_error_code(self.name, f"{error.status} {error.code}".strip())
        return ContentRejected(f"{self.label} does not accept {what}: {error.reason}")

    def transient_error(self, error: E) -> Transient:
        """Return the Transient error for a failed HTTP call that may succeed later."""
        return Transient(f"{self.label} answered {error.status}: {error.reason}", retry_after=error.retry_after)

    @contextmanager
    def _translated(self, translate: Callable[[OutboundError | E], PlatformError]) -> Iterator[None]:
        try:
            yield
        except (OutboundError, self.error) as error:
            raise translate(error) from error  # type: ignore[arg-type]

    def _meaning(self, error: E) -> PlatformError | None:
        if specific := self.platform_specific_error(error):
            return specific
        if error.status == 429:
            return RateLimited(f"{self.label}'s rate limit is reached.", retry_after=error.retry_after)
        if error.status == 401:
            return TokenExpired(f"{self.label} no longer accepts the access token.")
        return self.transient_error(error) if error.status >= 500 else None

    def _undocumented(self, error: E) -> PlatformError:
        report_unknown_error_code(self.name, f"{error.status} {error.code}".strip())
        return self.transient_error(error)
