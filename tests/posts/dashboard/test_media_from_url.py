"""The composer: adding a file from a web address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from media.models import MediaAsset
from tests.fakes.http_server import Answer, LoopbackServer, ReceivedRequest
from tests.media.pictures import jpeg
from tests.occupied_threads import occupy_all_outbound_threads
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words


class Pictures(LoopbackServer):
    """A web server with one picture and one page."""

    def answer(self, request: ReceivedRequest) -> Answer:
        return Answer(200, jpeg() if request.path == "/rye.jpg" else b"<p>Rye</p>", {"Content-Type": "image/jpeg"})


@pytest.fixture
def server(settings: Any) -> Iterator[Pictures]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with Pictures() as server:
        yield server


@pytest.mark.parametrize("button", ["fetch", "check"])
def test_a_file_is_added_from_an_address(
    dashboard: Dashboard, account: ConnectedAccount, server: Pictures, button: str
) -> None:
    """Enter in the field of the address presses the form's first button, which is `check`."""
    page = dashboard.compose(button, account, source_url=f" {server.url}/rye.jpg ")

    asset = MediaAsset.objects.get()
    assert (asset.filename, asset.workspace_id) == ("rye.jpg", dashboard.workspace.id)
    assert fields(page, "media") == [asset.id]
    assert fields(page, "source_url") == [""]
    assert typed(page, "text") == "Hello"
    assert AuditEntry.objects.get(operation="media.upload").outcome == "succeeded"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("not an address", "Files cannot be fetched from this URL"),
        ("https://10.0.0.1/rye.jpg", "Files cannot be fetched from this URL"),
        ("{server}/page.html", "Nothing was added from this address."),
        ("https://example.com/" + "x" * 2048, "2048 characters"),
    ],
)
def test_a_refused_address_is_kept_and_explained(
    dashboard: Dashboard, account: ConnectedAccount, server: Pictures, address: str, problem: str
) -> None:
    address = address.replace("{server}", server.url)

    page = dashboard.compose("fetch", account, source_url=address, live=True)

    assert problem in words(page)
    assert fields(page, "source_url") == [address]
    assert not MediaAsset.objects.exists()
    assert AuditEntry.objects.get(operation="media.upload").outcome == "refused"


def test_an_address_waits_for_no_free_thread(dashboard: Dashboard, account: ConnectedAccount, server: Pictures) -> None:
    with occupy_all_outbound_threads():
        page = dashboard.compose("fetch", account, source_url=f"{server.url}/rye.jpg")

    assert "Too many requests are waiting for other servers." in words(page)
    assert not server.requests


def test_a_live_check_fetches_nothing(dashboard: Dashboard, account: ConnectedAccount, server: Pictures) -> None:
    dashboard.compose("check", account, source_url=f"{server.url}/rye.jpg", live=True)

    assert not server.requests
