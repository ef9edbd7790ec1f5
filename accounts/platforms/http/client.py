"""The base class of HTTP clients for platforms' JSON APIs, which are called with an account's access token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from accounts.platforms.http.errors import PlatformHttpError
from accounts.platforms.http.responses import json_object_or_none, required_json_object
from config.outbound import Response, request


@dataclass(frozen=True)
class JsonClient:
    """The HTTP client of a platform's JSON API at the URL `address`, with an access token, which may be empty.

    Subclasses name the exception for error responses and add what is particular to the platform. Every call raises that
    exception, NotSent (the request was not sent) or SentWithoutAnswer (it may have been processed).
    """

    address: str
    token: str = field(default="", repr=False)

    error: ClassVar[type[PlatformHttpError]] = PlatformHttpError
    timeout_seconds: ClassVar[float] = 30.0
    max_bytes: ClassVar[int] = 1_000_000
    requires_objects: ClassVar[bool] = False  # whether get and post raise UnreadableAnswer for any body but a JSON object

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Send a GET request with this JSON client. Returns the JSON object of the response, `{}` if there is none."""
        return self._content(self.send_to_url("GET", f"{self.address}{path}", params=params))

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """Send a POST request with this JSON client. Returns the JSON object of the response.

        After SentWithoutAnswer or a status of 5xx the change may have been made.
        """
        return self._content(self.send_to_url("POST", f"{self.address}{path}", **body))

    def send_to_url(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, timeout: float | None = None, **body: Any
    ) -> Response:
        """Send an HTTP request of the JSON client to a full URL, and return the response if it is successful."""
        response = request(
            method,
            url,
            headers={**self.headers(), **(headers or {})},
            timeout=timeout or self.timeout_seconds,
            max_bytes=self.max_bytes,
            **body,
        )
        if not self.is_success(response):
            raise self.parse_http_error(response)
        return response

    def headers(self) -> dict[str, str]:
        """Return the HTTP headers that the JSON client adds to every call of the platform's API."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**bearer, "Accept": "application/json"}

    def is_success(self, response: Response) -> bool:
        """Return whether the HTTP client counts a response as success: status 2xx, unless a subclass decides otherwise."""
        return 200 <= response.status < 300

    def parse_http_error(self, response: Response) -> PlatformHttpError:
        """Return the exception that the HTTP client raises for an error response of the platform's JSON API.

        Override the method to remove a secret from the message.
        """
        return self.error(response)

    def _content(self, response: Response) -> dict[str, Any]:
        return required_json_object(response) if self.requires_objects else json_object_or_none(response) or {}
