"""POST /media: accepted uploads and what is stored."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from auditlog.models import AuditEntry
from media.models import MediaAsset
from media.scanning import EICAR_TEST_FILE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.clamd import FakeClamd
from tests.media.pictures import gif, jpeg, png, position_of
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
Stored = Callable[[], list[bytes]]


def in_json(content: bytes, **fields: Any) -> dict[str, Any]:
    return {"content_base64": base64.b64encode(content).decode(), **fields}


@pytest.fixture(params=["form", "json"])
def send(request: Any, api: ApiClient) -> Callable[..., Any]:
    """Send a picture in each of the two formats that contain its bytes."""

    def send(content: bytes, filename: str = "bench.jpg", **fields: str) -> Any:
        if request.param == "form":
            return api.upload(content, filename, **fields)
        return api.post("/media", in_json(content, filename=filename, **fields))

    return send


def test_a_picture_becomes_an_asset(send: Callable[..., Any], workspace: Workspace, stored: Stored, incoming: Path) -> None:
    picture = jpeg(640, 480)
    with time_machine.travel(NOON, tick=False):
        answer = send(picture, workspace_id=workspace.id, alt_text="A bench")

    media = answer.json()["media"]
    asset = MediaAsset.objects.get()
    assert answer.status_code == 201
    assert media.pop("url").startswith(f"http://127.0.0.1:8000/files/{asset.id}/bench.jpg?")
    taken = {each["platform"]: each["ok"] for each in media.pop("platforms")}
    assert (taken["bluesky"], taken["youtube"], taken["slack"]) == (True, False, True)
    assert media == {
        "id": asset.id,
        "workspace_id": workspace.id,
        "kind": "image",
        "filename": "bench.jpg",
        "mime_type": "image/jpeg",
        "size_bytes": len(picture),
        "sha256": hashlib.sha256(picture).hexdigest(),
        "width": 640,
        "height": 480,
        "duration_ms": None,
        "alt_text": "A bench",
        "scan": {"status": "not_scanned", "engine": ""},
        "thumbnail_url": None,
        "status": "ready",
        "created_at": "2027-03-10T12:00:00Z",
    }
    assert (stored(), list(incoming.iterdir())) == ([picture], [])
    assert asset.due_at == NOON  # the worker makes its thumbnail


def test_the_type_is_detected_from_the_bytes(send: Callable[..., Any]) -> None:
    answers = [send(png(), "picture.jpg"), send(gif(), "picture.png")]
    uploaded = [answer.json()["media"] for answer in answers]

    assert [media["mime_type"] for media in uploaded] == ["image/png", "image/gif"]
    assert [media["kind"] for media in uploaded] == ["image", "gif"]
    assert [media["filename"] for media in uploaded] == ["picture.jpg", "picture.png"]
    assert [Path(asset.storage_key).suffix for asset in MediaAsset.objects.order_by("pk")] == [".png", ".gif"]


def test_platform_issues_are_returned_with_repairs(api: ApiClient) -> None:
    media = api.upload(jpeg()).json()["media"]
    [youtube] = [each for each in media["platforms"] if each["platform"] == "youtube"]

    assert youtube == {
        "platform": "youtube",
        "ok": False,
        "issues": [
            {
                "code": "MEDIA_KIND_NOT_TAKEN",
                "severity": "error",
                "field": "file",
                "message": "youtube takes no images.",
                "auto_fixable": False,
                "repair_hint": {"action": "remove_media", "field": "file", "explanation": "Leave the image out."},
            }
        ],
    }


def test_the_geolocation_is_removed(send: Callable[..., Any], stored: Stored) -> None:
    taken = jpeg(position=True)
    media = send(taken).json()["media"]

    [stored_bytes] = stored()
    assert position_of(taken)
    assert position_of(stored_bytes) == {}
    assert (media["sha256"], media["size_bytes"]) == (hashlib.sha256(stored_bytes).hexdigest(), len(stored_bytes))


def test_the_file_is_scanned_before_it_is_stored(api: ApiClient, settings: Settings, stored: Stored) -> None:
    settings.MEDIA_SCANNER = "clamav"
    with FakeClamd() as clamd:
        settings.CLAMAV_ADDRESS = clamd.address
        media = api.upload(jpeg()).json()["media"]
        flagged = api.upload(jpeg() + EICAR_TEST_FILE)
    gone = api.upload(png())

    assert media["scan"] == {"status": "clean", "engine": "ClamAV 1.4.3/27654"}
    assert_envelope(flagged, 422, "MEDIA_MALWARE_DETECTED")
    assert_envelope(gone, 503, "MEDIA_SCAN_UNAVAILABLE")
    assert stored() == [jpeg()]


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\pictures\\bench.jpg", "bench.jpg"),
        ("Bänke 🪑.jpeg", "Bänke 🪑.jpeg"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("line\r\nbreak.jpg", "linebreak.jpg"),
        ("", "upload.jpg"),
        ("..", "upload.jpg"),
        ("pictures/", "upload.jpg"),
        ("x" * 300 + ".jpg", "x" * 251 + ".jpg"),
    ],
)
def test_a_filename_is_only_a_label(api: ApiClient, filename: str, shown: str) -> None:
    assert api.post("/media", in_json(jpeg(), filename=filename)).json()["media"]["filename"] == shown
    assert shown not in MediaAsset.objects.get().storage_key


@pytest.mark.parametrize(("filename", "shown"), [("a/b.jpg", "b.jpg"), ("Bänke.jpg", "Bänke.jpg"), ("", "upload.jpg")])
def test_the_filename_of_a_form_is_only_a_label(api: ApiClient, filename: str, shown: str) -> None:
    assert api.upload(jpeg(), filename).json()["media"]["filename"] == shown


def test_a_form_part_without_a_filename_is_accepted_as_a_file(api: ApiClient) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + jpeg() + b"\r\n--b--\r\n"
    answer = api.post("/media", part, content_type="multipart/form-data; boundary=b")

    assert (answer.status_code, answer.json()["media"]["filename"]) == (201, "upload.jpg")


def test_a_key_uploads_to_its_own_workspace_and_a_user_must_name_one(
    api: ApiClient, owner: User, workspace: Workspace
) -> None:
    person = as_user(owner)
    unnamed = person.upload(jpeg())

    assert api.upload(jpeg()).json()["media"]["workspace_id"] == workspace.id
    assert person.upload(jpeg(), workspace_id=workspace.id).status_code == 201
    assert assert_envelope(unnamed, 422, "VALIDATION_FAILED")["details"][0]["field"] == "workspace_id"


@pytest.mark.parametrize("way", ["form", "form of a generated client", "form's query", "json"])
def test_a_dry_run_checks_everything_and_stores_nothing(
    api: ApiClient, workspace: Workspace, stored: Stored, incoming: Path, way: str
) -> None:
    if way == "json":
        answer = api.post("/media", in_json(jpeg(), filename="a.jpg", dry_run=True))
    else:
        fields = {"form": {"dry_run": "true"}, "form of a generated client": {"dry_run": "True"}}.get(way, {})
        answer = api.upload(jpeg(), "a.jpg", path="/media" if fields else "/media?dry_run=true", **fields)

    body = answer.json()
    assert (answer.status_code, body["dry_run"], body["operation"]) == (200, True, "media.upload")
    assert body["request"] == {"workspace_id": workspace.id, "filename": "a.jpg", "alt_text": ""}
    made = api.upload(jpeg(), "a.jpg").json()["media"]
    left_out = ("id", "url", "thumbnail_url")
    expected = {name: value for name, value in made.items() if name not in left_out}
    assert body["would_create"] == {**expected, "created_at": body["would_create"]["created_at"]}
    assert (MediaAsset.objects.count(), len(stored()), list(incoming.iterdir())) == (1, 1, [])


def test_a_dry_run_is_refused_for_the_same_reasons_as_an_upload(api: ApiClient, settings: Settings, stored: Stored) -> None:
    settings.MEDIA_SCANNER = "clamav"
    with FakeClamd() as clamd:
        settings.CLAMAV_ADDRESS = clamd.address
        answers = [api.upload(jpeg() + EICAR_TEST_FILE, dry_run="true"), api.upload(b"text", dry_run="true")]

    assert [answer.json()["code"] for answer in answers] == ["MEDIA_MALWARE_DETECTED", "MEDIA_TYPE_NOT_ALLOWED"]
    assert [entry.dry_run for entry in AuditEntry.objects.filter(operation="media.upload")] == [True, True]


def test_an_agent_of_dry_runs_only_previews(agent_client: Any, stored: Stored) -> None:
    agent = agent_client(default_mode="dry_run")

    assert agent.upload(jpeg()).json()["dry_run"] is True
    assert_envelope(agent.upload(jpeg(), dry_run="false"), 403, "AGENT_MODE_FORBIDS")
    assert stored() == []


def test_an_upload_is_in_the_audit_log(api: ApiClient, workspace: Workspace) -> None:
    media = api.upload(jpeg(), "secret plans.jpg").json()["media"]
    api.upload(b"no picture")

    made, refused = AuditEntry.objects.filter(operation="media.upload").order_by("pk")
    assert (made.workspace_id, made.resource_type, made.resource_id) == (workspace.id, "media", media["id"])
    assert made.metadata == {"kind": "image", "mime_type": "image/jpeg", "size_bytes": media["size_bytes"]}
    assert (refused.outcome, refused.code, refused.resource_id) == ("refused", "MEDIA_TYPE_NOT_ALLOWED", "")


def test_a_repeated_idempotency_key_returns_the_first_asset_with_a_new_url(
    api: ApiClient, stored: Stored, incoming: Path
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        first = api.upload(jpeg(), idempotency_key="1")
        clock.shift(timedelta(hours=20))
        again, other = api.upload(jpeg(), idempotency_key="1"), api.upload(png(), idempotency_key="1")

    assert [answer.status_code for answer in (first, again, other)] == [201, 201, 201]
    assert {answer.json()["media"]["id"] for answer in (first, again, other)} == {MediaAsset.objects.get().id}
    assert again.json()["media"]["url"] != first.json()["media"]["url"]
    assert [answer.headers.get("Idempotency-Replayed") for answer in (first, again, other)] == [None, "true", "true"]
    assert [answer.headers.get("Idempotency-Request-Differs") for answer in (again, other)] == [None, "true"]
    assert (stored(), list(incoming.iterdir())) == ([jpeg()], [])


def test_a_repeated_idempotency_key_with_an_invalid_form_returns_the_first_asset(api: ApiClient, stored: Stored) -> None:
    first = api.upload(jpeg(), idempotency_key="1").json()["media"]
    answers = [api.upload(jpeg(), colour="red", idempotency_key="1"), api.post("/media", {}, idempotency_key="1")]

    assert [answer.json()["media"]["id"] for answer in answers] == [first["id"]] * 2
    for answer in answers:
        assert (answer["Idempotency-Replayed"], answer["Idempotency-Request-Differs"]) == ("true", "true")
    assert (MediaAsset.objects.count(), len(stored())) == (1, 1)


def test_a_repeated_idempotency_key_after_the_deletion_returns_a_deleted_asset(api: ApiClient) -> None:
    media = api.upload(jpeg(), idempotency_key="1").json()["media"]
    api.delete(f"/media/{media['id']}")
    again = api.upload(jpeg(), idempotency_key="1").json()["media"]

    assert (again["id"], again["status"], again["url"]) == (media["id"], "deleted", None)
