"""Errors of the reference API."""

from __future__ import annotations


class RefusedError(Exception):
    """A refusal, answered in the error envelope."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    def envelope(self, trace_id: str) -> dict[str, object]:
        """Return the five fields of every error answer."""
        return {
            "code": self.code,
            "message": self.message,
            "suggested_action": "Correct the request.",
            "auto_fixable": False,
            "trace_id": trace_id,
        }
