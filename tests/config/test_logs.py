"""Log lines: one for each request, with trace, actor and workspace, and without secrets."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from agents.models import ApiKey
from config.api.trace import TraceFilter
from config.logs import JsonFormatter, PlainTextFormatter
from tests import factories
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Return the log lines so far, in production's format."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(TraceFilter())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


def test_a_request_logs_one_line_with_operation_actor_and_workspace(
    api: ApiClient, workspace: Workspace, lines: Lines
) -> None:
    answer = api.get(f"/agents?workspace_id={workspace.id}")
    (line,) = [each for each in lines() if each["logger"] == "access"]

    assert line["trace_id"] == answer["x-trace-id"]
    assert (line["operation"], line["method"], line["status"]) == ("agents.list", "GET", 200)
    assert (line["actor"], line["workspace_id"]) == (f"api_key:{ApiKey.objects.get().id}", workspace.id)
    assert 0 < line["ms"] < 60_000
    assert line["time"].endswith("Z")


def test_a_users_log_line_has_the_workspace_of_the_request(owner: User, workspace: Workspace, lines: Lines) -> None:
    as_user(owner).get(f"/agents?workspace_id={workspace.id}")

    assert (lines()[-1]["actor"], lines()[-1]["workspace_id"]) == (f"user:{owner.id}", workspace.id)


def test_the_actor_of_a_request_is_not_logged_for_the_next_one(api: ApiClient, lines: Lines) -> None:
    api.get("/capabilities?surprise=1")
    ApiClient().get("/capabilities")

    assert ["actor" in each for each in lines() if each["logger"] == "access"] == [True, False]


def test_health_probes_and_static_files_are_not_logged(lines: Lines, db: None, settings: Any) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    codes = [ApiClient().get(path).status_code for path in ("/healthz", "/static/site/tokens.css", "/nothing")]

    assert codes == [200, 200, 404]
    assert [line["status"] for line in lines()] == [404]


def test_no_secret_is_logged(workspace: Workspace, operator: ApiClient, lines: Lines) -> None:
    token = factories.workspace_key(workspace)
    canaries = (token, "body-canary", "query-canary", "header-canary", str(operator.token))
    ApiClient(token).post("/posts?surprise=query-canary", {"text": "body-canary"}, x_note="header-canary")
    operator.post("/ops/keys/revoke", {"token": token})
    logger = logging.getLogger("some.adapter")
    try:
        raise RuntimeError(f"401 for Authorization: Bearer {operator.token}, {{'key': '{token}'}}")
    except RuntimeError:
        logger.exception("A fault with %s.", token)
    text = json.dumps(lines(), ensure_ascii=False)

    assert [canary for canary in canaries if canary in text] == []
    assert "A fault with sps_key_…" in text
    assert "RuntimeError: 401" in lines()[-1]["exception"]


def test_plain_text_lines_contain_no_secrets() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "Bearer %s", ("abc",), None)

    assert PlainTextFormatter("%(message)s").format(record) == "Bearer …"


@pytest.mark.parametrize(
    ("environment", "is_json"), [({}, False), ({"LOG_FORMAT": "json"}, True), ({"ENVIRONMENT": "production"}, True)]
)
def test_the_log_format_is_a_setting(tmp_path: Path, environment: dict[str, str], is_json: bool) -> None:
    output = _configured(tmp_path, environment)

    assert output.stderr.strip().startswith("{") == is_json, output.stderr


def test_an_unknown_log_format_is_reported(tmp_path: Path) -> None:
    assert "LOG_FORMAT='xml' is unknown: use line or json." in _configured(tmp_path, {"LOG_FORMAT": "xml"}).stderr


def _configured(tmp_path: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Configure gunicorn's logger, as production processes do before the first request."""
    script = (
        "import config.gunicorn, gunicorn.config;config.gunicorn.ServiceLogger(gunicorn.config.Config()).info('Starting')"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=configured.BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
