"""Platform errors that no adapter maps are logged for the operator, without the content of the post."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import report_unknown_error_code
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.posts.rows import create, publish_rounds
from workspaces.models import Workspace

ODD: dict[str, list[tuple[int, dict[str, Any], str | None]]] = {
    "bluesky": [
        (400, {"error": "RecordTooOdd", "message": "Hello"}, "400 RecordTooOdd"),
        (409, {"error": "Conflict", "message": "Hello"}, "409 Conflict"),
        (400, {"error": "InvalidRequest", "message": "Hello"}, None),
        (503, {"error": "Odd"}, None),
    ],
    "mastodon": [(409, {"error": "Hello"}, "409"), (422, {"error": "Hello"}, None), (429, {}, None)],
    "telegram": [
        (409, {"ok": False, "description": "Conflict: Hello"}, "409"),
        (400, {"ok": False, "description": "Bad Request: Hello is odd"}, "400"),
        (400, {"ok": False, "description": "Bad Request: message is too long"}, None),
        (403, {"ok": False, "description": "Forbidden: bot was kicked"}, None),
    ],
    "discord": [
        (400, {"code": 99_999, "message": "Hello"}, "400 99999"),
        (403, {"code": 99_999, "message": "Hello"}, "403 99999"),
        (409, {"code": 99_999, "message": "Hello"}, "409 99999"),
        (400, {"code": 50_035, "message": "Invalid Form Body"}, None),
        (404, {"code": 10_015, "message": "Unknown Webhook"}, None),
    ],
}


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "accounts.platforms"]


@pytest.mark.parametrize(
    ("platform", "status", "body", "code"), [(platform, *odd) for platform, answers in ODD.items() for odd in answers]
)
def test_an_unmapped_error_is_logged_once(
    api: ApiClient,
    workspace: Workspace,
    settings: Any,
    clock: Any,
    caplog: pytest.LogCaptureFixture,
    platform: str,
    status: int,
    body: dict[str, Any],
    code: str | None,
) -> None:
    with world_of(platform, settings) as world:
        account = world.connect(api, workspace.id)
        world.server.refuse_next(world.create, Answer.of_json(body, status))
        create(api, account, text="Hello")

        publish_rounds(clock)

    expected = f"{platform} gave an answer that this service does not know: {code}"
    assert logged(caplog) == ([expected] if code else [])


def test_a_code_is_one_short_line(caplog: pytest.LogCaptureFixture) -> None:
    report_unknown_error_code("somewhere", "odd\ncode\x1b" + "x" * 1000)

    [line] = logged(caplog)
    assert line.isprintable()
    assert len(line) < 200
