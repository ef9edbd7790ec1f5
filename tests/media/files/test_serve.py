"""Serving stored files: ranges, conditional requests, and security headers."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.test import Client

from media.links import signed_file_url
from media.models import MediaAsset
from tests.media.files.fetching import CONTENT, ETAG, SHA256, MakeAsset, assert_gone, fetch


def test_the_whole_file_is_sent_with_security_headers(asset: MediaAsset) -> None:
    url = signed_file_url(asset)
    answer = fetch(url)

    assert url.startswith(f"https://posts.example.com/files/{asset.id}/bench.jpg?")
    assert (answer.status_code, answer.body) == (200, CONTENT)
    headers = {
        "Content-Type": "image/jpeg",
        "Content-Length": "1024",
        "Content-Disposition": 'inline; filename="bench.jpg"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, max-age=600",
        "ETag": ETAG,
        "Accept-Ranges": "bytes",
    }
    assert {name: answer.get(name) for name in headers} == headers
    assert len(answer["x-trace-id"]) == 32
    assert not answer.cookies


def test_a_large_file_is_streamed_in_chunks(make: MakeAsset) -> None:
    content = bytes(3_000_000)
    answer = Client().get(urlsplit(signed_file_url(make(content=content)))._replace(scheme="", netloc="").geturl())

    pieces = [len(piece) for piece in answer.streaming_content]  # type: ignore[attr-defined]
    assert sum(pieces) == len(content)
    assert max(pieces) <= 300_000


def test_head_returns_the_same_headers_without_the_body(asset: MediaAsset) -> None:
    whole, head = fetch(signed_file_url(asset)), fetch(signed_file_url(asset), "HEAD", range="bytes=0-9")

    assert (head.status_code, head.body) == (200, b"")
    assert {**head.headers, "x-trace-id": ""} == {**whole.headers, "x-trace-id": ""}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_get_and_head_are_allowed(asset: MediaAsset, method: str) -> None:
    answer = fetch(signed_file_url(asset), method)

    assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("suffix", "mime_type", "disposition"),
    [(".mp4", "video/mp4", "inline"), (".webp", "image/webp", "inline"), (".pdf", "application/pdf", "attachment")],
)
def test_files_that_a_browser_could_execute_are_served_as_downloads(
    make: MakeAsset, suffix: str, mime_type: str, disposition: str
) -> None:
    answer = fetch(signed_file_url(make(suffix, mime_type=mime_type, filename="plan" + suffix)))

    assert answer["Content-Disposition"] == f'{disposition}; filename="plan{suffix}"'
    assert answer["Content-Type"] == mime_type


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("Öl & Gas.jpeg", "inline; filename*=utf-8''%C3%96l%20-%20Gas.jpg"),
        ("写真 1.png", "inline; filename*=utf-8''%E5%86%99%E7%9C%9F%201.jpg"),
        ('a"; filename=evil.html\r\nX: 1', 'inline; filename="a- filename-evil.jpg"'),
        ("..\\..//etc/passwd", 'inline; filename="passwd.jpg"'),
        ("page.html", 'inline; filename="page.jpg"'),
        ("\u202egpj.exe", 'inline; filename="gpj.jpg"'),
        ("x" * 255, f'inline; filename="{"x" * 100}.jpg"'),
    ],
)
def test_unsafe_characters_are_removed_from_the_download_name(make: MakeAsset, filename: str, shown: str) -> None:
    answer = fetch(signed_file_url(make(filename=filename)))

    assert (answer.status_code, answer.body) == (200, CONTENT)
    assert answer["Content-Disposition"] == shown


@pytest.mark.parametrize("filename", ["???", "...", ""])
def test_a_file_without_a_usable_name_is_named_by_its_id(make: MakeAsset, filename: str) -> None:
    asset = make(filename=filename)

    assert fetch(signed_file_url(asset))["Content-Disposition"] == f'inline; filename="{asset.id}.jpg"'


@pytest.mark.parametrize(
    ("asked", "start", "length"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-1023", 0, 1024),
        ("bytes=100-199", 100, 100),
        ("bytes=1000-", 1000, 24),
        ("bytes=1000-9999999999", 1000, 24),
        ("bytes=-24", 1000, 24),
        ("bytes=-5000", 0, 1024),
        ("Bytes = 1-2 ", 1, 2),
    ],
)
def test_a_byte_range_is_served(asset: MediaAsset, asked: str, start: int, length: int) -> None:
    answer = fetch(signed_file_url(asset), range=asked)

    assert (answer.status_code, answer.body) == (206, CONTENT[start : start + length])
    assert answer["Content-Range"] == f"bytes {start}-{start + length - 1}/1024"
    assert (answer["Content-Length"], answer["ETag"]) == (str(length), ETAG)


@pytest.mark.parametrize(
    "asked",
    ["bytes=0-1,5-6", "bytes=9-1", "bytes=-", "bytes=a-b", "bytes=", "items=0-1", "0-1", "bytes=0-1-2", "bytes=" + "9" * 30],
)
def test_an_invalid_range_is_ignored(asset: MediaAsset, asked: str) -> None:
    answer = fetch(signed_file_url(asset), range=asked)

    assert (answer.status_code, answer.body) == (200, CONTENT)
    assert "Content-Range" not in answer


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=1024-2000", "bytes=-0"])
def test_a_range_after_the_end_is_refused(asset: MediaAsset, asked: str) -> None:
    answer = fetch(signed_file_url(asset), range=asked)

    assert (answer.status_code, answer.json()["code"]) == (416, "RANGE_NOT_SATISFIABLE")
    assert answer["Content-Range"] == "bytes */1024"


@pytest.mark.parametrize(
    ("validator", "status"), [(ETAG, 206), ('"another"', 200), (f"W/{ETAG}", 200), ("Fri, 20 Nov 2026 12:00:00 GMT", 200)]
)
def test_an_outdated_if_range_gets_the_whole_file(asset: MediaAsset, validator: str, status: int) -> None:
    answer = fetch(signed_file_url(asset), range="bytes=0-9", if_range=validator)

    assert (answer.status_code, len(answer.body)) == (status, 10 if status == 206 else 1024)


@pytest.mark.parametrize(
    ("known", "status"), [(ETAG, 304), (f'"a", W/{ETAG}', 304), ("*", 304), ('"another"', 200), (SHA256, 200)]
)
def test_a_cached_file_is_not_sent_again(asset: MediaAsset, known: str, status: int) -> None:
    answer = fetch(signed_file_url(asset), if_none_match=known)

    assert (answer.status_code, len(answer.body)) == (status, 0 if status == 304 else 1024)
    assert (answer["ETag"], answer["Cache-Control"]) == (ETAG, "private, max-age=600")


def test_a_file_missing_in_the_storage_is_not_found(make: MakeAsset, caplog: pytest.LogCaptureFixture) -> None:
    asset = make(storage_key="wrk_1/lost.jpg")

    assert_gone(signed_file_url(asset))
    assert "wrk_1/lost.jpg" in caplog.text
