"""Translating HTTP errors that mean the same at all platforms."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from config.outbound import NotSent, Response, SentWithoutAnswer


class Errors(ErrorTranslator[PlatformHttpError]):
    """A platform without errors of its own."""

    name = "x"
    label = "Example"
    error = PlatformHttpError


ERRORS = Errors()


def answered(status: int, body: bytes = b'{"message": "no"}') -> PlatformHttpError:
    return PlatformHttpError(Response(status, {"Retry-After": "7"}, body), reason="no")


@pytest.mark.parametrize(
    ("fault", "read", "sent", "published"),
    [
        (NotSent("x"), Transient, Transient, Transient),
        (SentWithoutAnswer("x"), Transient, Transient, OutcomeUnknown),
        (answered(429), RateLimited, RateLimited, RateLimited),
        (answered(401), TokenExpired, TokenExpired, TokenExpired),
        (answered(500), Transient, Transient, OutcomeUnknown),
        (answered(400), Transient, ContentRejected, ContentRejected),
        (answered(403, b"<html>"), Transient, Transient, Transient),
        (answered(413, b"<html>"), Transient, ContentRejected, ContentRejected),
        (answered(418), Transient, Transient, Transient),
    ],
)
def test_each_error_is_translated_by_the_kind_of_call(
    fault: Exception, read: type[PlatformError], sent: type[PlatformError], published: type[PlatformError]
) -> None:
    contexts = (
        ERRORS.translating_repeatable_call_errors(),
        ERRORS.translating_content_call_errors("this"),
        ERRORS.translating_publish_errors("this", final=True),
    )
    for context, expected in zip(contexts, (read, sent, published), strict=True):
        with pytest.raises(PlatformError) as caught, context:
            raise fault
        assert type(caught.value) is expected


def test_the_platform_error_has_the_waiting_time_and_the_reason() -> None:
    limited = ERRORS.translate_repeatable_call_error(answered(429))
    assert isinstance(limited, RateLimited)
    assert limited.retry_after == 7.0
    assert (
        ERRORS.translate_content_call_error(answered(400), "this image").message == "Example does not accept this image: no"
    )
