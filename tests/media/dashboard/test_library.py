"""The page of the media library: grid, search and upload form."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from media.models import MediaAsset
from media.selectors import MAX_ASSETS_SEARCHED_PER_PAGE
from tests.factories import MediaAssetFactory
from tests.media.pictures import jpeg, png
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import Member, User, Workspace


def shown(page: Any) -> list[str]:
    """The ids of the assets in the grid, in order."""
    return re.findall(r'href="[^"]*/media/(med_\w+)"', page.content.decode())


def send(pages: Pages, *files: SimpleUploadedFile, live: bool = False) -> Any:
    headers = {"HX-Request": "true"} if live else {}
    return pages.http.post(pages.address("media"), {"file": list(files)}, headers=headers)


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_an_empty_library_explains_how_to_upload(pages: Pages) -> None:
    assert "Upload files above" in words(pages.get("media"))


def test_files_are_shown_newest_first_page_by_page(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    made = [MediaAssetFactory(workspace=workspace).id for _ in range(50)]
    MediaAssetFactory()  # of somebody else
    MediaAssetFactory(workspace=workspace, status="deleted")

    with django_assert_max_num_queries(11):
        first = pages.get("media")
    further = re.search(r'href="\?cursor=([\w-]+)"', first.content.decode())
    assert further
    second = pages.get("media", query={"cursor": further[1]})

    assert shown(first) + shown(second) == made[::-1]
    assert len(shown(second)) == 2
    assert len(first.content) < 100_000


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "HARBOUR"}, ["harbour.jpg", "boats.png"]),
        ({"q": "dusk harbour"}, ["boats.png"]),
        ({"kind": "video"}, ["clip.mp4"]),
        ({"q": "harbour", "kind": "video"}, []),
        ({"q": "100%"}, []),
        ({"q": "bench\0", "kind": "no such"}, ["harbour.jpg", "clip.mp4"]),
    ],
)
def test_search_by_name_alt_text_and_kind(
    pages: Pages, workspace: Workspace, query: dict[str, str], found: list[str]
) -> None:
    rows = {
        "clip.mp4": MediaAssetFactory(workspace=workspace, filename="clip.mp4", kind="video", mime_type="video/mp4"),
        "boats.png": MediaAssetFactory(workspace=workspace, filename="boats.png", alt_text="The harbour at dusk"),
        "harbour.jpg": MediaAssetFactory(workspace=workspace, filename="harbour.jpg"),
    }

    page = pages.get("media", query=query)

    assert shown(page) == [rows[name].id for name in found]
    assert ("files found." in words(page)) == (not found)


def test_a_search_examines_a_span_of_uploads_per_page(pages: Pages, workspace: Workspace) -> None:
    old = MediaAssetFactory(workspace=workspace, filename="needle.jpg")
    properties = {name: getattr(old, name) for name in ("workspace_id", "kind", "mime_type", "size_bytes", "sha256")}
    MediaAsset.objects.bulk_create(MediaAsset(filename="hay.jpg", **properties) for _ in range(MAX_ASSETS_SEARCHED_PER_PAGE))

    first = pages.get("media", query={"q": "needle"})
    further = re.search(r'href="\?(q=needle&amp;cursor=([\w-]+))"', first.content.decode())
    assert further
    second = pages.get("media", query={"q": "needle", "cursor": further[2]})

    assert "No matches among the 2000 uploads" in words(first)
    assert shown(second) == [old.id]


def test_uploads_lead_to_the_page_for_their_alt_texts(pages: Pages, incoming: Path) -> None:
    sent = send(pages, file("bench.jpg", jpeg()), file("sign.png", png()), file("notes.txt", b"these are only words"))
    asked = pages.http.get(sent["location"])

    bench, sign = MediaAsset.objects.order_by("pk")
    assert (bench.filename, sign.filename, sign.mime_type) == ("bench.jpg", "sign.png", "image/png")
    assert sent.status_code == 303
    assert "notes.txt was not uploaded." in words(asked)
    assert list(incoming.iterdir()) == []
    assert AuditEntry.objects.filter(operation="media.upload", code="MEDIA_TYPE_NOT_ALLOWED").count() == 1

    form = form_of(asked) | {f"{bench.id}-alt_text": "A bench\r\nin the sun"}
    done = pages.http.post(sent["location"], form, follow=True)
    assert "Saved." in words(done)
    assert [asset.alt_text for asset in MediaAsset.objects.order_by("pk")] == ["A bench\nin the sun", ""]
    assert [entry.resource_id for entry in AuditEntry.objects.filter(operation="media.describe")] == [bench.id]


def test_htmx_uploads_lead_to_the_same_page(pages: Pages) -> None:
    answer = send(pages, file("bench.jpg", jpeg()), live=True)

    assert answer["HX-Redirect"] == f"{pages.address('media-describe')}?id={MediaAsset.objects.get().id}"


def test_refused_uploads_are_reported_at_the_form(pages: Pages, workspace: Workspace) -> None:
    existing = MediaAssetFactory(workspace=workspace)

    refused, nothing = send(pages, file("notes.txt", b"these are only words"), live=True), send(pages)

    assert (refused.status_code, nothing.status_code) == (422, 422)
    assert "notes.txt was not uploaded." in words(refused)
    assert "Choose a file first." in words(nothing)
    assert shown(refused) == [existing.id]


def test_a_too_long_alt_text_is_refused_on_its_form(pages: Pages, workspace: Workspace) -> None:
    asset = MediaAssetFactory(workspace=workspace)
    address = f"{pages.address('media-describe')}?id={asset.id}"

    page = pages.http.post(address, {f"{asset.id}-alt_text": "x" * 10_001})

    assert (page.status_code, "10001 characters; the maximum is 10000" in words(page)) == (422, True)
    assert form_of(page)[f"{asset.id}-alt_text"] == "x" * 10_001
    assert MediaAsset.objects.get().alt_text == asset.alt_text


def test_alt_texts_are_requested_only_for_assets_of_the_workspace(pages: Pages) -> None:
    foreign = MediaAssetFactory()
    address = f"{pages.address('media-describe')}?id={foreign.id}"

    assert pages.http.get(address)["location"] == pages.address("media")
    assert pages.http.post(address, {f"{foreign.id}-alt_text": "Mine"})["location"] == pages.address("media")
    assert MediaAsset.objects.get().alt_text == foreign.alt_text


def test_a_member_can_read_but_not_upload(workspace: Workspace, teammate: User, stored: Callable[[], list[bytes]]) -> None:
    asset = MediaAssetFactory(workspace=workspace)
    member = Pages(workspace, teammate)

    page = member.get("media")
    response = member.http.get(send(member, file("bench.jpg", jpeg()))["location"])

    assert shown(page) == [asset.id]
    assert not has_form(page, member.address("media"))
    assert "needs an owner, admin or editor" in words(response)
    assert member.get("media-describe", query={"id": asset.id})["location"] == member.address("media")
    assert stored() == []


def test_an_admin_uploads(workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    assert send(Pages(workspace, teammate), file("bench.jpg", jpeg())).status_code == 303


def test_strangers_and_signed_out_users_see_nothing(workspace: Workspace, stranger: User) -> None:
    asset = MediaAssetFactory(workspace=workspace)
    for name, named in (("media", {}), ("media-describe", {}), ("media-asset", {"media_id": asset.id})):
        assert Pages(workspace, stranger).get(name, **named).status_code == 404
        answer = Pages(workspace, None).get(name, **named)
        assert (answer.status_code, answer["location"].partition("?")[0]) == (302, reverse("sign-in"))


def test_an_upload_needs_the_forms_token(workspace: Workspace, owner: User) -> None:
    pages = Pages(workspace, owner, csrf=True)
    token = form_of(pages.get("media"), pages.address("media"))["csrfmiddlewaretoken"]

    forged = send(pages, file("bench.jpg", jpeg()))
    sent = pages.post("media", {"file": file("bench.jpg", jpeg()), "csrfmiddlewaretoken": token})

    assert (forged.status_code, sent.status_code) == (403, 303)
    assert MediaAsset.objects.count() == 1
