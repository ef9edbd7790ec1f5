"""Assets of a workspace with equal bytes share one stored file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from media.models import MediaAsset
from tests import factories
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.media.pictures import jpeg, png
from workspaces.models import Workspace

Stored = Callable[[], list[bytes]]
pytestmark = pytest.mark.django_db(transaction=True)  # files go after the commit


def test_the_same_bytes_are_stored_once(api: ApiClient, stored: Stored) -> None:
    first, second = (api.upload(jpeg(), name, alt_text=name).json()["media"] for name in ("a.jpg", "b.jpg"))

    assert first["id"] != second["id"]
    assert [first["alt_text"], second["filename"]] == ["a.jpg", "b.jpg"]
    assert stored() == [jpeg()]
    assert b"".join(Client().get(second["url"]).streaming_content) == jpeg()  # type: ignore[attr-defined]


def test_bytes_are_compared_without_the_geolocation(api: ApiClient, stored: Stored) -> None:
    api.upload(jpeg(position=True))
    [content] = stored()
    api.upload(content)

    assert (MediaAsset.objects.count(), len(stored())) == (2, 1)


def test_the_file_is_deleted_with_the_last_asset_that_shares_it(api: ApiClient, stored: Stored) -> None:
    made = [api.upload(jpeg()).json()["media"] for _ in range(3)]
    left = []
    for media in made:
        assert api.delete(f"/media/{media['id']}").status_code == 200
        left.append(len(stored()))

    assert left == [1, 1, 0]


def test_the_file_of_a_deleted_asset_is_not_shared_with_a_new_upload(api: ApiClient, stored: Stored) -> None:
    media = api.upload(jpeg()).json()["media"]
    api.delete(f"/media/{media['id']}")
    again = api.upload(jpeg()).json()["media"]

    assert Client().get(again["url"]).status_code == 200
    assert stored() == [jpeg()]


def test_workspaces_do_not_share_files(api: ApiClient, stored: Stored) -> None:
    other = factories.WorkspaceFactory.create()
    api.upload(jpeg())
    media = ApiClient(factories.workspace_key(other)).upload(jpeg()).json()["media"]

    assert media["workspace_id"] == other.id
    assert stored() == [jpeg(), jpeg()]


def test_different_bytes_are_stored_as_another_file(api: ApiClient, stored: Stored) -> None:
    for content in (jpeg(), png()):
        api.upload(content)

    assert sorted(stored()) == sorted([jpeg(), png()])


def test_a_simultaneous_upload_and_deletion_of_equal_files_leave_no_asset_without_a_file(
    api: ApiClient, workspace: Workspace
) -> None:
    for number in range(5):
        picture = jpeg(8, 8 + number)
        earlier = api.upload(picture).json()["media"]

        def act(n: int, content: bytes = picture, media_id: str = earlier["id"]) -> str:
            answer = api.delete(f"/media/{media_id}") if n else api.upload(content)
            return str(answer.json()["media"]["url"])

        url, _ = in_threads(2, act)
        assert Client().get(url).status_code == 200
