"""POST /media: refused uploads and their errors."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings
from urllib3.filepost import encode_multipart_formdata

from config.api.uploads import MAX_BASE64_FILE_BYTES
from media.models import MediaAsset
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, large_jpeg, png
from tests.people import as_user
from workspaces.models import Workspace

BOUNDARY = "b0undary"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
IN_BASE64 = base64.b64encode(jpeg()).decode()


@pytest.fixture(autouse=True)
def _nothing_is_stored(db: None, incoming: Path, stored: Callable[[], list[bytes]]) -> Any:
    """Assert that refused uploads leave nothing behind."""
    yield
    assert (MediaAsset.objects.count(), stored(), list(incoming.iterdir())) == (0, [], [])


def part(name: str, content: bytes = b"text", filename: str | None = None) -> bytes:
    disposition = f'form-data; name="{name}"' + ("" if filename is None else f'; filename="{filename}"')
    return f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n"


def form(*parts: bytes, end: bytes = b"--\r\n") -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}".encode() + end


FILE = part("file", jpeg(), "a.jpg")


def details(answer: Any) -> list[tuple[str, str]]:
    """(field, code) of each detail."""
    details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    return [(each["field"], each["code"]) for each in details]


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        pytest.param(form(part("alt_text")), [("file", "required")], id="no file"),
        pytest.param(form(FILE, part("surprise")), [("surprise", "unknown_field")], id="unknown field"),
        pytest.param(form(FILE, part("other", png(), "b.png")), [("other", "unknown_field")], id="unknown file"),
        pytest.param(form(part("alt_text", png(), "b.png"), FILE), [("alt_text", "unknown_field")], id="file as text"),
        pytest.param(form(FILE, FILE), [("file", "repeated")], id="two files"),
        pytest.param(form(FILE, part("alt_text"), part("alt_text")), [("alt_text", "repeated")], id="twice"),
        pytest.param(form(FILE, part("workspace_id", b"wrk_1")), [("workspace_id", "invalid_id")], id="no id"),
        pytest.param(form(FILE, part("dry_run", b"yes")), [("dry_run", "wrong_type")], id="no boolean"),
        pytest.param(form(FILE, part("alt_text", b"x" * 10_001)), [("alt_text", "max_length")], id="long alt text"),
    ],
)
def test_a_form_is_strict(api: ApiClient, sent: bytes, refused: list[tuple[str, str]]) -> None:
    assert details(api.post("/media", sent, content_type=FORM)) == refused


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        pytest.param(form(FILE), "multipart/form-data", id="no boundary"),
        pytest.param(form(FILE), "multipart/form-data; boundary=" + "x" * 300, id="bad boundary"),
        pytest.param(form(FILE), "multipart/form-data; boundary=other", id="another boundary"),
        pytest.param(b"x", FORM, id="no form"),
        pytest.param(FILE[:-100], FORM, id="cut in the file"),
        pytest.param(FILE, FORM, id="cut behind the file"),
        pytest.param(form(FILE, end=b"\r\n"), FORM, id="last boundary not closed"),
        pytest.param(form(FILE) + form(part("alt_text")), FORM, id="goes on after its end"),
        pytest.param(form(part("file", jpeg() + b"\r\n--b0undaryish", "a.jpg")), FORM, id="boundary inside the file"),
        pytest.param(form(part("file", jpeg() + b"\r\n--b0undary  ", "a.jpg")), FORM, id="padded boundary"),
        pytest.param(
            form(FILE, b"--b0undary\r\nContent-Disposition: form-data; name*=undefined''x\r\n\r\nx\r\n"),
            FORM,
            id="name in no charset",
        ),
        pytest.param(
            form(FILE, b"--b0undary\r\nContent-Disposition: form-data; name*=raw_unicode_escape''%5Cud800\r\n\r\nx\r\n"),
            FORM,
            id="name with a lone surrogate",
        ),
        pytest.param(form(FILE, b"--b0undary\r\n\r\nnameless\r\n"), FORM, id="part without headers"),
        pytest.param(
            form(FILE, b"--b0undary\r\nContent-Disposition: form-data\r\n\r\nx\r\n"), FORM, id="part without a name"
        ),
        pytest.param(form(FILE, part("x" * 2000)), FORM, id="long headers"),
        pytest.param(form(FILE, part("alt_text", b"\xff\xfe")), FORM, id="not UTF-8"),
        pytest.param(form(FILE, part("alt_text", b"a\0b")), FORM, id="NUL"),
        pytest.param(form(*(part(f"field-{number}") for number in range(30))), FORM, id="many parts"),
    ],
)
def test_an_invalid_form_is_malformed(api: ApiClient, sent: bytes, kind: str) -> None:
    assert_envelope(api.post("/media", sent, content_type=kind), 400, "MALFORMED_REQUEST")


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({}, [("content_base64", "required")]),
        ({"content_base64": IN_BASE64, "source_url": "https://a.example/b.jpg"}, [("source_url", "conflict")]),
        ({"content_base64": IN_BASE64, "surprise": 1}, [("surprise", "unknown_field")]),
        ({"content_base64": 5}, [("content_base64", "wrong_type")]),
        ({"content_base64": ""}, [("content_base64", "blank")]),
        ({"content_base64": IN_BASE64.rstrip("=") + "A==="}, [("content_base64", "invalid")]),
        ({"content_base64": IN_BASE64[:76] + "\n" + IN_BASE64[76:]}, [("content_base64", "invalid")]),
        ({"content_base64": "Grüße"}, [("content_base64", "invalid")]),
        ({"content_base64": "data:image/jpeg;base64," + IN_BASE64}, [("content_base64", "invalid")]),
        ({"content_base64": IN_BASE64, "filename": 1}, [("filename", "wrong_type")]),
        ({"file": "x"}, [("file", "unknown_field")]),
        ({"source_url": "http://a.example/b.jpg"}, [("source_url", "not_allowed")]),
        ({"source_url": "https://10.0.0.1/b.jpg"}, [("source_url", "not_allowed")]),
        ({"source_url": "https://user:word@a.example/b.jpg"}, [("source_url", "not_allowed")]),
        ([1], [("", "wrong_type")]),
        (b"", [("content_base64", "required")]),
    ],
)
def test_a_json_body_is_strict(api: ApiClient, body: Any, refused: list[tuple[str, str]]) -> None:
    assert details(api.post("/media", body)) == refused


@pytest.mark.parametrize("content", [b"", b"text", b"<svg xmlns='http://www.w3.org/2000/svg'/>", jpeg()[:-200]])
def test_a_file_of_an_unsupported_type_is_refused(api: ApiClient, content: bytes) -> None:
    assert_envelope(api.upload(content, "bench.jpg"), 422, "MEDIA_TYPE_NOT_ALLOWED")


def test_other_content_types_are_refused_with_the_accepted_ones(api: ApiClient) -> None:
    body = assert_envelope(api.post("/media", jpeg(), content_type="image/jpeg"), 415, "UNSUPPORTED_MEDIA_TYPE")

    assert "multipart/form-data" in body["suggested_action"]


def test_a_file_larger_than_the_limit_of_its_kind_is_refused(api: ApiClient, settings: Settings) -> None:
    settings.MEDIA_MAX_BYTES = {"image": len(jpeg()) - 1, "video": 10_000_000, "document": 10_000_000}

    assert_envelope(api.upload(jpeg()), 413, "PAYLOAD_TOO_LARGE")
    assert_envelope(api.post("/media", {"content_base64": IN_BASE64}), 413, "PAYLOAD_TOO_LARGE")


def test_a_too_large_file_is_refused_while_it_is_received(api: ApiClient, settings: Settings) -> None:
    """The picture is truncated as well, which would be a 400 if it were read to its end."""
    settings.MEDIA_MAX_BYTES = {"image": 200_000, "video": 10_000_000, "document": 10_000_000}
    broken_off = form(part("file", large_jpeg(600_000), "a.jpg"))[:-1000]

    assert_envelope(api.post("/media", broken_off, content_type=FORM), 413, "PAYLOAD_TOO_LARGE")


def test_the_length_of_a_form_field_is_limited(api: ApiClient) -> None:
    sent = form(FILE, part("alt_text", b"x" * 70_000))

    assert_envelope(api.post("/media", sent, content_type=FORM), 413, "PAYLOAD_TOO_LARGE")


def test_a_body_longer_than_the_largest_limit_is_refused_before_it_is_read(settings: Settings) -> None:
    """Even before authentication: this request has no token."""
    settings.MEDIA_MAX_BYTES = {"image": 1000, "video": 1000, "document": 1000}
    body, kind = encode_multipart_formdata({"file": ("a.jpg", large_jpeg(1_100_000))})

    assert_envelope(ApiClient().post("/media", body, content_type=kind), 413, "PAYLOAD_TOO_LARGE")


def test_a_file_in_base64_may_have_twenty_megabytes(api: ApiClient) -> None:
    at_the_limit = base64.b64encode(bytes(MAX_BASE64_FILE_BYTES)).decode()
    beyond = base64.b64encode(bytes(MAX_BASE64_FILE_BYTES + 3)).decode()

    assert_envelope(api.post("/media", {"content_base64": at_the_limit}), 422, "MEDIA_TYPE_NOT_ALLOWED")
    assert_envelope(api.post("/media", {"content_base64": beyond}), 413, "PAYLOAD_TOO_LARGE")
    assert_envelope(api.post("/media", b'{"content_base64": "' + b"A" * 30_000_000), 413, "PAYLOAD_TOO_LARGE")


def test_the_scope_is_checked_before_the_file(key_with: Any) -> None:
    assert_envelope(key_with("posts.read").post("/media", FILE[:-100], content_type=FORM), 403, "SCOPE_MISSING")


def test_a_foreign_workspace_does_not_exist(api: ApiClient, stranger: Any) -> None:
    foreign = Workspace.objects.get(owner_user=stranger)

    assert details(api.upload(jpeg(), workspace_id=foreign.id)) == [("workspace_id", "not_found")]


def test_a_paused_workspace_refuses_uploads(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    assert_envelope(api.upload(jpeg()), 403, "WORKSPACE_PAUSED")


def test_a_member_may_not_upload(workspace: Workspace, teammate: Any) -> None:
    assert_envelope(as_user(teammate).upload(jpeg(), workspace_id=workspace.id), 403, "FORBIDDEN")
