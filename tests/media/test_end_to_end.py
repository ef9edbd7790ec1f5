"""A picture over HTTP: uploaded, listed, fetched, posted, published, deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests import factories
from tests.media.image_files import encoded, picture
from tests.media.thumbnails import make_thumbnails
from tests.media.web_server import WebServer, web_server
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)  # the server has connections of its own


@pytest.fixture
def web(workspace: Workspace, tmp_path: Path) -> Iterator[WebServer]:
    with web_server(tmp_path, factories.workspace_key(workspace)) as server:
        yield server


def media_list(web: WebServer, workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = web.request("GET", f"/media?workspace_id={workspace.id}").json()["media"]
    return found


def test_upload_serve_and_delete_a_picture(
    web: WebServer, workspace: Workspace, account: ConnectedAccount, tmp_path: Path
) -> None:
    content = encoded("PNG", picture(sides=(600, 400)), compress_level=0)
    (tmp_path / "bench.png").write_bytes(content)

    uploaded = web.upload(tmp_path / "bench.png", alt_text="A bench")
    media = uploaded.json()["media"]
    assert (uploaded.status, media["sha256"], media["alt_text"], media["thumbnail_url"]) == (
        *(201, hashlib.sha256(content).hexdigest()),
        *("A bench", None),
    )
    assert list((tmp_path / "incoming").iterdir()) == []

    make_thumbnails()
    [shown] = media_list(web, workspace)
    assert (shown["id"], shown["thumbnail_url"] is None) == (media["id"], False)

    whole = web.request("GET", media["url"])
    part = web.request("GET", media["url"], range="bytes=1000-1999", if_range=whole.headers["etag"])
    small = web.request("GET", shown["thumbnail_url"])
    assert (whole.status, whole.headers["content-type"], whole.body) == (200, "image/png", content)
    assert (part.status, part.headers["content-range"], part.body) == (
        *(206, f"bytes 1000-1999/{len(content)}"),
        content[1000:2000],
    )
    assert (small.status, small.headers["content-type"], small.body[:3]) == (200, "image/jpeg", b"\xff\xd8\xff")
    assert {answer.headers["x-content-type-options"] for answer in (whole, part, small)} == {"nosniff"}

    post = web.request("POST", "/posts", body_for(account, media=[{"media_id": media["id"]}], draft=True)).json()
    path = f"/posts/{post['post_group']['id']}"
    in_use = web.request("DELETE", f"/media/{media['id']}")
    assert (in_use.status, in_use.json()["code"]) == (409, "MEDIA_IN_USE")

    assert web.request("POST", f"{path}/confirm", {"content_version": 1}).status == 200
    run_until_idle()
    assert web.request("GET", path).json()["post_group"]["status"] == "published"

    deleted = web.request("DELETE", f"/media/{media['id']}")
    assert (deleted.status, deleted.json()["media"]["status"]) == (200, "deleted")
    assert media_list(web, workspace) == []
    assert [web.request("GET", url).status for url in (media["url"], shown["thumbnail_url"])] == [404, 404]
    assert [file for file in (tmp_path / "storage").rglob("*") if file.is_file()] == []
