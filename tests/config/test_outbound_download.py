"""Downloads that are cut at a maximum size."""

from __future__ import annotations

import io

import pytest
from pytest_django import Settings

from config.outbound import ResponseTooLarge, download
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages


@pytest.mark.parametrize(
    ("length", "size"), [(0, 0), (99_999, 99_999), (100_000, 100_000), (100_001, 100_000), (10**6, 10**5)]
)
def test_a_long_answer_is_truncated_on_request(settings: Settings, length: int, size: int) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with WebPages() as web:
        link = web.put("/", Answer(200, b"x" * length))
        body = io.BytesIO()

        assert download(link, body, max_bytes=100_000, cut=True).status == 200
        if length > size:
            with pytest.raises(ResponseTooLarge):
                download(link, io.BytesIO(), max_bytes=100_000)

    assert body.getvalue() == b"x" * size
