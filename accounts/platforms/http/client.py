"""The base class of clients for a platform's JSON API, which is called with one account's access token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from accounts.platforms.http.responses import ApiError, UnreadableAnswer, json_object
from config.outbound import Response, request


@dataclass(frozen=True)
class JsonClient:
    """Client of a JSON API at `address` (without a trailing slash) with a bearer token; the token is empty if none is needed.

    Subclasses name the exception for error responses and add what is particular to the platform. Every call raises that
    exception, NotSent (the request was not sent) or NoAnswer (it may have been processed).
    """

    address: str
    token: str = field(default="", repr=False)

    error: ClassVar[type[ApiError]] = ApiError
    timeout_seconds: ClassVar[float] = 30.0
    max_bytes: ClassVar[int] = 1_000_000
    requires_objects: ClassVar[bool] = (
        False  # whether get and post raise UnreadableAnswer for any body but a JSON object
    )

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Send a GET request. Returns the response's JSON object, empty for a body that is not an object."""
        return self._content(self.call("GET", f"{self.address}{path}", params=params))

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """Send a POST request; `body` is passed on to `call`. Returns the response's JSON object.

        After NoAnswer or a status of 5xx the change may have been made.
        """
        return self._content(self.call("POST", f"{self.address}{path}", **body))

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
        """The HTTP headers of every call to the platform's API."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**bearer, "Accept": "application/json"}

    def is_success(self, response: Response) -> bool:
        """Whether a response says that the platform did what was asked."""
        return 200 <= response.status < 300

    def error_of(self, response: Response) -> ApiError:
        """The exception for an error response. Override it to remove a client's secret from the reason."""
        return self.error(response)

    def _content(self, response: Response) -> dict[str, Any]:
        return required_object(response) if self.requires_objects else json_object(response) or {}


def required_object(response: Response) -> dict[str, Any]:
    """The JSON object of a platform's successful response. Raises UnreadableAnswer if the body is anything else."""
    content = json_object(response)
    if content is None:
        raise UnreadableAnswer("The response is not a JSON object.")
    return content
