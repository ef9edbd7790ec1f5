"""A JSON API of a platform, called with one account's access token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from accounts.platforms.http.responses import ApiError, UnreadableAnswer, json_object
from config.outbound import Response, request


@dataclass(frozen=True)
class JsonClient:
    """An API at `address` (without a trailing slash) that takes a bearer token; empty for calls without one.

    Subclasses name the exception for error responses and add what is particular to the platform. Every call raises that
    exception, NotSent (the request was not sent) or NoAnswer (it may have been processed).
    """

    address: str
    token: str = field(default="", repr=False)

    error: ClassVar[type[ApiError]] = ApiError
    timeout_seconds: ClassVar[float] = 30.0
    max_bytes: ClassVar[int] = 1_000_000

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Read something, which changes nothing. Returns the JSON object, empty for a body that is none."""
        return json_object(self.call("GET", f"{self.address}{path}", params=params)) or {}

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """Change something; `body` is passed on to `call`. After NoAnswer or a status of 5xx it may have been done."""
        return json_object(self.call("POST", f"{self.address}{path}", **body)) or {}

    def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **body: Any,
    ) -> Response:
        """Send one request to a full URL and return a successful response; `body` is that of `config.outbound.request`."""
        response = request(
            method,
            url,
            headers={**self.headers(), **(headers or {})},
            timeout=timeout or self.timeout_seconds,
            max_bytes=self.max_bytes,
            **body,
        )
        if not self.is_success(response):
            raise self.error_of(response)
        return response

    def headers(self) -> dict[str, str]:
        """The headers of every call."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**bearer, "Accept": "application/json"}

    def is_success(self, response: Response) -> bool:
        """Whether the platform did what was asked."""
        return 200 <= response.status < 300

    def error_of(self, response: Response) -> ApiError:
        """The exception for a response without success. Override it to remove the client's secret from the reason."""
        return self.error(response)


def required_object(response: Response) -> dict[str, Any]:
    """The JSON object of a successful response. Raises UnreadableAnswer if the body is anything else."""
    content = json_object(response)
    if content is None:
        raise UnreadableAnswer("The response is not a JSON object.")
    return content
