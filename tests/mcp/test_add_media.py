"""The tool add_media: it fetches a file from a URL into the media library, with the checks of POST /media."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from auditlog.models import AuditEntry
from media.models import MediaAsset
from tests import factories
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer, LoopbackServer, RawAnswer, ReceivedRequest
from tests.mcp.calls import refusal, use
from tests.media.pictures import jpeg
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


class PictureServer(LoopbackServer):
    """A server that sends a picture at /bench.jpg, a page at /page, and nothing else."""

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        pages = {"/bench.jpg": Answer(200, jpeg()), "/page": Answer(200, b"<p>A page</p>")}
        return pages.get(request.path, Answer(404, b"Nothing here"))


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> Iterator[PictureServer]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    settings.MEDIA_ROOT, settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "storage", tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700)
    with PictureServer() as server:
        yield server


def test_a_picture_is_added_and_attached(api: ApiClient, server: PictureServer, workspace: Workspace) -> None:
    added = use(api.token, "add_media", source_url=f"{server.url}/bench.jpg", alt_text="A bench")
    media = added["media"]

    assert (media["kind"], media["alt_text"], added["dry_run"]) == ("image", "A bench", False)
    assert media["id"] in added["next"]
    [entry] = AuditEntry.objects.filter(operation="media.upload")
    assert (entry.via, entry.resource_id, entry.metadata["client"]) == ("mcp", media["id"], "Test client/1.2")
    account = factories.AccountFactory(workspace=workspace)
    plan = use(api.token, "plan_post", text="a", targets=[account.id], media=[{"media_id": media["id"]}])
    assert plan["plan"]["status"] == "open"


def test_what_platforms_refuse_is_said(api: ApiClient, server: PictureServer) -> None:
    refused_by = use(api.token, "add_media", source_url=f"{server.url}/bench.jpg")["refused_by"]

    assert "youtube" in refused_by
    assert all(reasons and all(reasons) for reasons in refused_by.values())


def test_an_agent_that_may_only_try_stores_nothing(agent_client: Any, server: PictureServer) -> None:
    tried = use(agent_client(default_mode="dry_run").token, "add_media", source_url=f"{server.url}/bench.jpg")

    assert (tried["dry_run"], "id" in tried["media"]) == (True, False)
    assert not MediaAsset.objects.exists()


def test_refusals_are_those_of_the_api(api: ApiClient, agent_client: Any, server: PictureServer, settings: Settings) -> None:
    reader = agent_client(scopes=["posts.read"])
    refused = [
        refusal(api.token, "add_media", source_url=f"{server.url}/absent"),
        refusal(api.token, "add_media", source_url=f"{server.url}/page"),
        refusal(api.token, "add_media", source_url="ftp://files.example/a"),
        refusal(reader.token, "add_media", source_url=f"{server.url}/bench.jpg"),
    ]
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    refused.append(refusal(api.token, "add_media", source_url=f"{server.url}/bench.jpg"))

    codes = ["VALIDATION_FAILED", "MEDIA_TYPE_NOT_ALLOWED", "VALIDATION_FAILED", "SCOPE_MISSING", "VALIDATION_FAILED"]
    assert [row["code"] for row in refused] == codes
    assert refused[0]["details"][0]["field"] == "source_url"
    assert [entry.code for entry in AuditEntry.objects.filter(outcome="refused").order_by("pk")] == codes
    assert not MediaAsset.objects.exists()
