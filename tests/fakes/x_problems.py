"""X's error responses: problem documents. Source: docs.x.com, response codes and errors."""

from __future__ import annotations

from typing import Any

from tests.fakes.http_server import Answer

BLANK = "about:blank"
PROBLEMS = "https://api.x.com/2/problems/"


class Problem(Exception):
    """An error response of X; `problem` is the end of its type, if it has one."""

    def __init__(self, status: int, title: str, detail: str, problem: str = "", **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = {"title": title, "detail": detail, "type": PROBLEMS + problem if problem else BLANK, **more}

    def answer(self) -> Answer:
        """The HTTP response of X's problem."""
        return Answer.of_json({**self.body, "status": self.status}, self.status)


def forbidden(detail: str) -> Problem:
    """X's problem for a call that is not permitted; the detail says why."""
    return Problem(403, "Forbidden", detail)


def invalid(parameter: str, message: str, values: object = "") -> Problem:
    """X's problem for a wrong parameter."""
    errors = [{"parameters": {parameter: [values] if isinstance(values, str) else values}, "message": message}]
    detail = "One or more parameters to your request was invalid."
    return Problem(400, "Invalid Request", detail, "invalid-request", errors=errors)
