"""The HTTP client for platforms: requests and answers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pytest_django import Settings

from config.outbound import NotSent, ResponseTooLarge, build_multipart_body, request
from tests.config.outbound_servers import OK, Server, drips, elapsed_under, replies


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    settings.OUTBOUND_USER_AGENT = "Publisher/1"


def test_method_path_headers_and_body_are_sent_unchanged() -> None:
    with Server(replies(OK)) as server:
        request("POST", server.url, headers={"Authorization": "Bearer t"}, json={"a": 1}, params={"q": "ä b"})

    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /path?q=%C3%A4+b HTTP/1.1"
    assert set(head.split(b"\r\n")[1:]) == {
        f"Host: 127.0.0.1:{server.port}".encode(),
        b"User-Agent: Publisher/1",
        b"Accept-Encoding: identity",
        b"Connection: close",
        b"Authorization: Bearer t",
        b"Content-Type: application/json",
        b"Content-Length: 8",
    }
    assert body == b'{"a": 1}'


def test_the_answer_is_returned_whatever_its_status() -> None:
    with Server(replies(b'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\n{"a": []}')) as server:
        response = request("GET", server.url)

    assert response.status == 503
    assert response.headers["retry-after"] == "7"
    assert response.body == b'{"a": []}'
    assert response.json() == {"a": []}


@pytest.mark.parametrize("body", [b"", b"<html>", b"1", b'"text"', b"null", b"\xff", b"[" * 100_000])
def test_json_other_than_an_object_or_array_raises_value_error(body: bytes) -> None:
    with Server(replies(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))) as server:
        response = request("GET", server.url)

    with pytest.raises(ValueError):
        response.json()


def test_a_form_and_a_file_are_sent_as_multipart() -> None:
    with Server(replies(OK)) as server:
        body = build_multipart_body({"description": "cat", "file": ("cat.png", io.BytesIO(b"PNG"), "image/png")})
        request("POST", server.url, data=body, headers={"Content-Type": body.content_type})

    assert b"Content-Type: multipart/form-data; boundary=" in server.requests[0]
    assert b'name="description"\r\n\r\ncat\r\n' in server.requests[0]
    assert b'name="file"; filename="cat.png"\r\nContent-Type: image/png\r\n\r\nPNG\r\n' in server.requests[0]


@pytest.mark.parametrize(
    ("path", "params", "target"),
    [
        ("", None, b"/"),
        ("?a=1", {"b": "2"}, b"/?a=1&b=2"),
        ("/a%20b", {"c": None}, b"/a%20b"),
        ("/50%?off=5%", None, b"/50%25?off=5%25"),
        ('/"{x}"', {"c": ["1", "2"]}, b"/%22%7Bx%7D%22?c=1&c=2"),
    ],
)
def test_the_path_and_the_parameters_make_the_request_line(path: str, params: dict[str, object], target: bytes) -> None:
    with Server(replies(OK)) as server:
        request("GET", f"http://127.0.0.1:{server.port}{path}", params=params)

    assert server.requests[0].startswith(b"GET " + target + b" HTTP/1.1\r\n")
    assert b"Content-Length" not in server.requests[0]


def test_a_form_is_sent_without_fields_that_are_none() -> None:
    with Server(replies(OK)) as server:
        request("POST", server.url, data={"text": "ä b", "other": None})

    assert b"Content-Type: application/x-www-form-urlencoded\r\n" in server.requests[0]
    assert server.requests[0].endswith(b"\r\n\r\ntext=%C3%A4+b")


def test_a_header_in_two_spellings_is_refused() -> None:
    with Server(replies(OK)) as server, pytest.raises(NotSent):
        request("POST", server.url, data=b"text", headers={"content-length": "400"})

    assert server.requests == []


def test_the_method_is_sent_in_upper_case() -> None:
    with Server(replies(OK)) as server:
        request("get", server.url)

    assert server.requests[0].startswith(b"GET ")
    assert b"Content-Length" not in server.requests[0]


def test_a_text_is_sent_as_it_is() -> None:
    with Server(replies(OK)) as server:
        request("POST", server.url, data="ä=1")

    assert b"Content-Type" not in server.requests[0]
    assert server.requests[0].endswith(b"\r\n\r\n" + "ä=1".encode())


def test_a_request_without_a_body_says_that_it_is_empty() -> None:
    with Server(replies(OK)) as server:
        request("POST", server.url)

    assert b"Content-Length: 0\r\n" in server.requests[0]
    assert b"Content-Type" not in server.requests[0]


def test_an_open_file_is_streamed() -> None:
    content = b"v" * 100_000
    with Server(replies(OK)) as server:
        request("PUT", server.url, data=io.BytesIO(content))

    assert server.requests[0].endswith(b"\r\n\r\n" + content)
    assert b"Content-Length: 100000\r\n" in server.requests[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_returned_and_not_followed(status: int) -> None:
    with Server(replies(OK)) as target:
        location = b"HTTP/1.1 %d Moved\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, target.url.encode())
        with Server(replies(location)) as server:
            response = request("POST", server.url, data=b"x")

    assert response.status == status
    assert target.accepted == 0


def test_proxies_and_netrc_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with Server(replies(OK)) as proxy, Server(replies(OK)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        request("GET", server.url)

    assert proxy.accepted == 0
    assert b"Authorization" not in server.requests[0]


def test_every_request_uses_a_new_connection() -> None:
    with Server(replies(OK)) as server:
        request("GET", server.url)
        request("GET", server.url)

    assert server.accepted == 2


def test_a_body_of_exactly_the_limit_is_read() -> None:
    with Server(replies(OK)) as server:
        assert request("GET", server.url, max_bytes=2).body == b"ok"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxxx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nxxx\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nxxx",
    ],
    ids=["length", "chunked", "until closed"],
)
def test_a_body_above_the_limit_raises_response_too_large(answer: bytes) -> None:
    with Server(replies(answer)) as server, pytest.raises(ResponseTooLarge, match="longer than 2 bytes"):
        request("GET", server.url, max_bytes=2)


def test_at_most_the_limit_of_an_endless_body_is_read() -> None:
    with Server(drips(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000)) as server, pytest.raises(ResponseTooLarge):
        request("GET", server.url, max_bytes=100_000)


def test_a_chunk_with_a_negative_size_is_not_read_endlessly() -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" + b"x" * 300_000
    with Server(drips(answer)) as server, elapsed_under(2), pytest.raises(ResponseTooLarge):
        request("GET", server.url, max_bytes=1000)


def test_a_compressed_answer_is_not_decompressed() -> None:
    with Server(replies(OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"))) as server:
        assert request("GET", server.url).body == b"ok"


def test_an_answer_before_the_body_was_received_is_returned() -> None:
    refusal = b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with Server(replies(refusal), reads=False) as server:
        assert request("POST", server.url, data=b"x" * 5_000_000).status == 401
