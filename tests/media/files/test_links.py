"""Signed links open one file until they expire; every invalid link gets the same response."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from media.links import media_file_for_adapter, signed_file_url
from media.models import MediaAsset
from tests.media.files.fetching import CONTENT, ETAG, NOW, MakeAsset, assert_gone, fetch
from workspaces.models import Workspace


def test_a_link_expires_at_its_time(asset: MediaAsset, clock: time_machine.Traveller, settings: Settings) -> None:
    url, settings.MEDIA_LINK_SECONDS = signed_file_url(asset), settings.MEDIA_LINK_SECONDS + 1
    longer = signed_file_url(asset)

    clock.shift(timedelta(seconds=599))
    answer = fetch(url)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, max-age=1")

    clock.shift(timedelta(seconds=1))
    assert_gone(url)
    assert fetch(longer).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"expires": str(int(NOW.timestamp()) + 100_000)},
        {"expires": f"0{int(NOW.timestamp()) + 600}"},
        {"expires": "never"},
        {"expires": ""},
        {"expires": "9" * 5000},
        {"form": "thumbnail"},
        {"form": "direct"},
        {"form": "storage"},
        {"signature": ""},
        {"signature": "A" * 43},
    ],
    ids=str,
)
def test_a_changed_link_is_not_found(make: MakeAsset, change: dict[str, str]) -> None:
    asset = make(thumbnail_key=make(content=b"small").storage_key)
    parts = urlsplit(signed_file_url(asset))
    query = {**dict(parse_qsl(parts.query)), **change}

    assert_gone(parts._replace(query=urlencode(query)).geturl())


def test_a_link_opens_only_its_own_file_under_its_own_name(make: MakeAsset) -> None:
    first, second = make(), make(content=b"other")
    url = signed_file_url(first)

    assert_gone(url.replace(first.id, second.id))
    assert_gone(url.replace("bench.jpg", "bench.html"))
    assert_gone(url.split("?", maxsplit=1)[0])


def test_links_signed_with_a_fallback_key_are_valid(asset: MediaAsset, settings: Settings) -> None:
    url, settings.SECRET_KEY_FALLBACKS = signed_file_url(asset), [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, which signs from now on"
    assert fetch(url).status_code == 200

    settings.SECRET_KEY_FALLBACKS = []
    assert_gone(url)


def test_links_to_deleted_assets_and_workspaces_are_not_found(make: MakeAsset, workspace: Workspace) -> None:
    deleted, other = make(), make()
    urls = signed_file_url(deleted), signed_file_url(other)
    MediaAsset.objects.filter(pk=deleted.pk).update(status=MediaAsset.Status.DELETED)
    assert_gone(urls[0])
    assert fetch(urls[1]).status_code == 200

    workspace.status = "deleted"
    workspace.save()
    assert_gone(urls[1])


def test_links_to_files_of_a_paused_workspace_are_valid(asset: MediaAsset, workspace: Workspace) -> None:
    workspace.status = "paused"
    workspace.save()

    assert fetch(signed_file_url(asset)).status_code == 200


def test_the_thumbnail_has_its_own_link(make: MakeAsset) -> None:
    asset = make(".png", mime_type="image/png", filename="bench.png")
    asset.thumbnail_key = make(content=b"small").storage_key
    asset.save()
    answer = fetch(signed_file_url(asset, thumbnail=True))

    assert (answer.body, answer["Content-Type"]) == (b"small", "image/jpeg")
    assert answer["Content-Disposition"] == 'inline; filename="bench.jpg"'
    assert answer["ETag"] not in (ETAG, fetch(signed_file_url(asset))["ETag"])


def test_an_adapter_gets_the_file_with_a_link_for_a_day(make: MakeAsset, clock: time_machine.Traveller) -> None:
    asset = make(filename='Öl; "Gas".jpg', alt_text="A bench")
    file = media_file_for_adapter(asset)

    with file.open() as opened:
        assert opened.read() == CONTENT
    assert (file.id, file.filename, file.alt_text, file.size_bytes) == (asset.id, "Ol-Gas.jpg", "A bench", 1024)
    assert media_file_for_adapter(asset, "Another").alt_text == "Another"
    clock.shift(timedelta(hours=23, minutes=59))
    assert fetch(file.url).body == CONTENT
    clock.shift(timedelta(minutes=1))
    assert_gone(file.url)


@pytest.mark.parametrize("filename", ["写真.png", "—", "."])
def test_an_adapter_gets_a_file_name_that_any_multipart_form_accepts(make: MakeAsset, filename: str) -> None:
    asset = make(filename=filename)

    assert media_file_for_adapter(asset).filename == f"{asset.id}.jpg"
