"""Log messages of a starting worker about missing external programs."""

from __future__ import annotations

import socket

import pytest
from pytest_django import Settings

from config.runtime.worker import _log_failed_checks


def test_a_scanner_that_does_not_answer_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings.MEDIA_SCANNER, settings.CLAMAV_ADDRESS = "clamav", f"127.0.0.1:{taken.getsockname()[1]}"
    _log_failed_checks()

    assert "does not answer" in caplog.text
    assert "Start clamd" in caplog.text


def test_without_a_scanner_no_failed_check_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.MEDIA_SCANNER = "none"
    _log_failed_checks()

    assert caplog.text == ""
