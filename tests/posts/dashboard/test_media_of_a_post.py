"""The composer: uploading, attaching, describing and ordering media."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from media.models import MediaAsset
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.media.image_files import encoded
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.media_rows import media_of
from tests.posts.rows import create
from workspaces.models import Workspace


@pytest.fixture
def pictures(workspace: Workspace) -> list[MediaAsset]:
    return [MediaAssetFactory(workspace=workspace, filename=f"{name}.jpg") for name in ("one", "two")]


def test_a_file_is_uploaded_and_attached(
    dashboard: Dashboard, account: ConnectedAccount, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    file = SimpleUploadedFile("harbour.jpg", encoded("JPEG"))

    page = dashboard.compose("upload", account, file=file, live=True)

    asset = MediaAsset.objects.get()
    assert (asset.filename, asset.kind, asset.workspace_id) == ("harbour.jpg", "image", dashboard.workspace.id)
    assert fields(page, "media") == [asset.id]
    assert typed(page, "text") == "Hello"
    assert page["HX-Trigger-After-Swap"] == "composed"
    assert AuditEntry.objects.get().operation == "media.upload"
    assert list(tmp_path.iterdir()) == []

    extra = {f"alt-{asset.id}": "Boats at dusk"}
    dashboard.compose("save", account, media=[asset.id], extra=extra)
    assert the_group().media == [{"media_id": asset.id, "alt_text": "Boats at dusk"}]


def test_a_refused_file_is_reported_and_audited(dashboard: Dashboard, account: ConnectedAccount) -> None:
    file = SimpleUploadedFile("notes.jpg", b"these are only words")

    page = dashboard.compose("upload", account, file=file)

    assert "notes.jpg was not uploaded." in words(page)
    assert not MediaAsset.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.code) == ("media.upload", "MEDIA_TYPE_NOT_ALLOWED")


def test_uploads_are_stored_only_by_pages_that_accept_them(
    dashboard: Dashboard, account: ConnectedAccount, api: ApiClient, settings: Any, tmp_path: Path
) -> None:
    """Uploads are not written to disk for forms without files, nor before the sender is authenticated."""
    group = create(api, account, draft=True)
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "nowhere"  # storing a file fails
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 100_000  # less than such a page accepts
    content = b"x" * 100_001
    nobody = Client(enforce_csrf_checks=True)  # which reads the form for its token
    nobody.cookies["csrftoken"] = "t" * 32

    for sender, name in ((nobody, "compose"), (nobody, "post-cancel"), (dashboard.http, "post-cancel")):
        address = dashboard.address(name, None if name == "compose" else group)
        answer = sender.post(address, {"file": SimpleUploadedFile("big.jpg", content)})
        assert answer.status_code in (302, 303, 403)
    assert the_group().status == "cancelled"


def test_a_request_above_the_largest_file_size_is_not_read(dashboard: Dashboard, settings: Any) -> None:
    settings.MEDIA_MAX_BYTES = dict.fromkeys(("image", "video", "document"), 1000)
    file = SimpleUploadedFile("big.jpg", b"x" * 1_100_000)

    page = dashboard.compose("upload", file=file)

    assert (page.status_code, "Send fewer or smaller files." in words(page)) == (413, True)


def test_assets_of_the_library_are_attached_and_reordered(
    dashboard: Dashboard, account: ConnectedAccount, pictures: list[MediaAsset]
) -> None:
    one, two = pictures
    page = dashboard.get("compose")
    assert f'value="attach:{one.id}"' in page.content.decode()

    page = dashboard.compose(f"attach:{two.id}", account, media=[one.id])
    assert fields(page, "media") == [one.id, two.id]
    assert f'value="attach:{two.id}"' not in page.content.decode()
    assert typed(page, f"alt-{two.id}") == "A bench in the workshop"

    moved = dashboard.compose(f"earlier:{two.id}", account, media=[one.id, two.id])
    assert fields(moved, "media") == [two.id, one.id]
    assert fields(dashboard.compose(f"earlier:{one.id}", account, media=[one.id, two.id]), "media") == [one.id, two.id]
    moved = dashboard.compose(f"later:{one.id}", account, media=[one.id, two.id])
    assert fields(moved, "media") == [two.id, one.id]
    left = dashboard.compose(f"leave-out:{two.id}", account, media=[two.id, one.id])
    assert fields(left, "media") == [one.id]


def test_an_alt_text_equal_to_the_assets_own_is_not_stored(
    dashboard: Dashboard, account: ConnectedAccount, pictures: list[MediaAsset]
) -> None:
    one, two = pictures
    extra = {f"alt-{one.id}": "A bench in the workshop", f"alt-{two.id}": ""}

    dashboard.compose("save", account, media=[one.id, two.id], extra=extra)

    assert the_group().media == [{"media_id": one.id}, {"media_id": two.id, "alt_text": ""}]


def test_files_of_another_workspace_cannot_be_attached(dashboard: Dashboard, account: ConnectedAccount) -> None:
    foreign = MediaAssetFactory()

    page = dashboard.compose(f"attach:{foreign.id}", account)

    assert fields(page, "media") == []
    assert foreign.id not in page.content.decode()


def test_a_deleted_file_is_removed_and_reported(
    dashboard: Dashboard, account: ConnectedAccount, api: ApiClient, pictures: list[MediaAsset]
) -> None:
    group = create(api, account, draft=True, media=media_of(*pictures))
    MediaAsset.objects.filter(pk=pictures[0].id).update(status="deleted")

    page = dashboard.get("post-edit", group)

    assert fields(page, "media") == [pictures[1].id]
    assert "was deleted from the library" in words(page)


def test_a_repair_removes_unsupported_media(dashboard: Dashboard, workspace: Workspace, account: ConnectedAccount) -> None:
    paper = MediaAssetFactory(workspace=workspace, kind="document", mime_type="application/pdf", filename="paper.pdf")
    shown = dashboard.compose("check", account, media=[paper.id])
    assert "Bluesky does not accept documents." in words(shown)

    page = dashboard.compose("repair:media[0]|MEDIA_KIND_NOT_TAKEN", account, media=[paper.id])

    assert fields(page, "media") == []
    assert "Valid for this account." in words(page)


def test_older_files_are_on_the_next_page(dashboard: Dashboard, account: ConnectedAccount, workspace: Workspace) -> None:
    rows = [MediaAssetFactory(workspace=workspace) for _ in range(25)]
    first = dashboard.get("compose").content.decode()
    cursor = first.partition('value="library:')[2].partition('"')[0]

    second = dashboard.compose(f"library:{cursor}", account).content.decode()

    assert (first.count("attach:"), second.count("attach:")) == (24, 1)
    assert f"attach:{rows[0].id}" in second
