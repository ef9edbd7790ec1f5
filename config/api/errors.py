"""The errors of the API: one exception class for each error code; all have the same JSON body.

Errors that belong to one app are defined there (billing: SpendCapExceeded, …) and derive from ApiError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.api.trace import current_trace_id


class ApiError(Exception):
    """The base class of API errors: a `code` for programs, a `message` for people, and a `suggested_action`."""

    status = 500
    code = "INTERNAL_ERROR"
    message = "Internal error."
    suggested_action = "Try again later. If the error persists, report the trace_id."
    auto_fixable = False
    default_headers: Mapping[str, str] = {}

    def __init__(
        self,
        message: str | None = None,
        *,
        suggested_action: str | None = None,
        details: list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.message = message or self.message
        self.suggested_action = suggested_action or self.suggested_action
        self.details = details
        self.headers = {**self.default_headers, **(headers or {})}
        super().__init__(self.message)

    def response_body(self) -> dict[str, Any]:
        """Return the JSON body of an API error, with `details` if the error has them."""
        body: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "suggested_action": self.suggested_action,
            "auto_fixable": self.auto_fixable,
            "trace_id": current_trace_id(),
        }
        if self.details is not None:
            body["details"] = self.details
        return body


class MalformedRequest(ApiError):
    status, code = 400, "MALFORMED_REQUEST"
    message = "The request could not be read."
    suggested_action = "Send well-formed JSON in UTF-8, with each key once."


class Unauthenticated(ApiError):
    status, code = 401, "UNAUTHENTICATED"
    message = "This operation needs a valid bearer token."
    suggested_action = "Send `Authorization: Bearer <API key>` with a key of this service."
    default_headers = {"WWW-Authenticate": "Bearer"}


class ApiKeyExpired(Unauthenticated):
    code, message = "API_KEY_EXPIRED", "This API key has expired."
    suggested_action = "Use the key that replaced it, or create a new one."


class ApiKeyRevoked(Unauthenticated):
    code, message = "API_KEY_REVOKED", "This API key was revoked."
    suggested_action = "Ask the owner of the workspace for a new key."


class ReauthenticationRequired(Unauthenticated):
    """The API error REAUTHENTICATION_REQUIRED: the token is valid, but a recent sign-in is needed (RFC 9470)."""

    code, message = "REAUTHENTICATION_REQUIRED", "This operation needs a recent sign-in."
    suggested_action = "Have the person sign in again (`prompt=login`), then send the request with the new token."

    def __init__(self, *, max_age: int = 0) -> None:
        challenge = f'Bearer error="insufficient_user_authentication", max_age="{max_age}"'
        super().__init__(headers={"WWW-Authenticate": challenge})


class Forbidden(ApiError):
    status, code = 403, "FORBIDDEN"
    message = "This caller may not do this."
    suggested_action = "Ask the owner of the workspace to do it."


class ScopeMissing(Forbidden):
    code, message = "SCOPE_MISSING", "The caller lacks a scope that this operation needs."
    suggested_action = "Use a key that holds the scope."


class WorkspacePaused(Forbidden):
    code, message = "WORKSPACE_PAUSED", "This workspace is paused: it can be read, but nothing may be changed."
    suggested_action = "Resume the workspace, or ask the operator of the service to."


class AgentModeForbids(Forbidden):
    code, message = "AGENT_MODE_FORBIDS", "The mode that the owner gave this agent does not allow this."
    suggested_action = "Ask for less (draft or dry run), or ask the owner for a wider default_mode."


class AccountNotAllowed(Forbidden):
    code, message = "ACCOUNT_NOT_ALLOWED", "The owner did not allow this agent to use one of these accounts."
    suggested_action = "Leave the account out, or ask the owner to add it to the agent's account_allowlist."


class UserSessionRequired(Forbidden):
    code, message = "USER_SESSION_REQUIRED", "Only a signed-in person may do this; API keys may not."
    suggested_action = "Sign in and send the person's own token."


class NotFound(ApiError):
    status, code = 404, "NOT_FOUND"
    message = "Not found."
    suggested_action = "Check the path and the identifier."


class MethodNotAllowed(ApiError):
    status, code = 405, "METHOD_NOT_ALLOWED"
    message = "This method is not allowed here."
    suggested_action = "Use a method listed in the Allow header."


class NotAcceptable(ApiError):
    status, code = 406, "NOT_ACCEPTABLE"
    message = "Only JSON answers are available."
    suggested_action = "Send `Accept: application/json`, or no Accept header."


class RequestTimeout(ApiError):
    status, code = 408, "REQUEST_TIMEOUT"
    message = "The request arrived too slowly."
    suggested_action = "Send it again over a faster connection, or send less at once."
    auto_fixable = True


class Conflict(ApiError):
    status, code = 409, "CONFLICT"
    message = "The request conflicts with the current state of the resource."
    suggested_action = "Read the resource again, then decide whether to repeat the request."


class InvalidState(ApiError):
    status, code = 409, "INVALID_STATE"
    message = "The resource is not in a state that allows this."
    suggested_action = "Read the resource again; its status says what is possible."


class IdempotencyInProgress(ApiError):
    status, code = 409, "IDEMPOTENCY_IN_PROGRESS"
    message = "Another request with this Idempotency-Key is still running."
    suggested_action = "Send the same request again after the time in Retry-After."
    default_headers = {"Retry-After": "1"}


class PlanChanged(ApiError):
    """API error for a write that would do something other than the plan that the caller has seen."""

    status, code = 409, "PLAN_CHANGED"
    message = "The operation would now do something else than the plan with this hash. Nothing was changed."
    suggested_action = "Preview the operation again, check what it would do now, and send the new plan_hash."

    def __init__(self, *, details: list[dict[str, Any]] | None = None) -> None:
        super().__init__(details=details)
        self.changed_plan: Any = None  # the new stored plan, if a stored one was to be committed
        self.plan_body: dict[str, Any] | None = None  # the same, as the API shows it

    def response_body(self) -> dict[str, Any]:
        """Return the JSON body of the error PLAN_CHANGED, with the new plan if a stored plan was to be committed."""
        return super().response_body() | ({} if self.plan_body is None else {"plan": self.plan_body})


class PayloadTooLarge(ApiError):
    status, code = 413, "PAYLOAD_TOO_LARGE"
    message = "The body is too large for this operation."
    suggested_action = "Send at most 1 MB of JSON."


class UnsupportedMediaType(ApiError):
    status, code = 415, "UNSUPPORTED_MEDIA_TYPE"
    message = "This operation does not accept this Content-Type."
    suggested_action = "Send `Content-Type: application/json`."


class ValidationFailed(ApiError):
    """The API error for invalid fields: `details` lists `{field, code, message}` for each of them."""

    status, code = 422, "VALIDATION_FAILED"
    message = "Some fields are invalid; details lists each."
    suggested_action = "Correct the fields listed in details, then send the request again."
    auto_fixable = True

    @classmethod
    def for_field(cls, field: str, message: str, code: str = "invalid") -> ValidationFailed:
        """Return the API error ValidationFailed for one invalid field."""
        return cls(details=[{"field": field, "code": code, "message": message}])


class WebhookUrlNotAllowed(ApiError):
    status, code = 422, "WEBHOOK_URL_NOT_ALLOWED"
    message = "Events cannot be sent to this address."
    suggested_action = "Give a public https address on port 443 or above 1023, without credentials in it."


class RateLimited(ApiError):
    status, code = 429, "RATE_LIMITED"
    message = "Too many requests from this caller."
    suggested_action = "Wait for the time in Retry-After, then send requests more slowly."
    auto_fixable = True


class InternalError(ApiError):
    pass


class ServiceUnavailable(ApiError):
    status, code = 503, "SERVICE_UNAVAILABLE"
    message = "The service is temporarily unavailable."
    suggested_action = "Send the same request again after the time in Retry-After, with the same Idempotency-Key."
    auto_fixable = True
    default_headers = {"Retry-After": "2"}


def missing_or_foreign_id_error(body_field: str | None, noun: str) -> ApiError:
    """Return the API error for an id that does not exist or belongs to another workspace: 422 in a body, 404 in a URL."""
    if body_field:
        return ValidationFailed.for_field(body_field, f"There is no such {noun}.", "not_found")
    return NotFound(f"There is no such {noun}.")
