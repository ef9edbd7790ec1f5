"""POST /media with a source_url: the service fetches the file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from config.api.models import IdempotencyRecord
from config.db.ids import new_id
from media.models import MediaAsset
from tests.config.outbound_servers import Server, closed_port, drips, hangs
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.http_server import DROPPED, Answer, LoopbackServer, RawAnswer, ReceivedRequest
from tests.in_threads import in_threads
from tests.media.pictures import jpeg, large_jpeg
from tests.occupied_threads import occupy_all_outbound_threads
from workspaces.models import Workspace

Stored = Callable[[], list[bytes]]
CUT = RawAnswer([b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", jpeg()])


class FileServer(LoopbackServer):
    """A server that sends the response for each path in `answers`; `looks` is called before each response."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer | RawAnswer] = {}
        self.looks: Callable[[], None] = lambda: None

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        self.looks()
        return self.answers.get(request.path, Answer(404, b"<p>Nothing here</p>"))

    def redirect(self, path: str, place: str, status: int = 302) -> None:
        self.answers[path] = Answer(status, b"<a>It is elsewhere</a>" * 50, {"Location": place})


@pytest.fixture
def server(settings: Settings) -> Iterator[FileServer]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FileServer() as server:
        server.answers["/bench.jpg"] = Answer(200, jpeg(), {"Content-Type": "text/html"})
        yield server


def fetch(api: ApiClient, url: str, *, key: str = "", **fields: Any) -> Any:
    return api.post("/media", {"source_url": url, **fields}, **({"idempotency_key": key} if key else {}))


def refusal(answer: Any) -> str:
    """The error code of the only problem of `source_url` in the response."""
    [detail] = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    assert detail["field"] == "source_url"
    return str(detail["code"])


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(incoming: Path) -> Any:
    yield
    assert list(incoming.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "named", "shown"),
    [
        ("/bench.jpg", {}, "bench.jpg"),
        ("/bench.jpg?size=large", {}, "bench.jpg"),
        ("/B%C3%A4nke%2Fbench.jpg", {}, "bench.jpg"),
        ("/", {}, "upload.jpg"),
        ("/bench.jpg", {"filename": "seat.jpg"}, "seat.jpg"),
    ],
)
def test_the_file_is_fetched_and_stored(
    api: ApiClient, server: FileServer, stored: Stored, path: str, named: dict[str, str], shown: str
) -> None:
    server.answers["/"] = server.answers["/B%C3%A4nke%2Fbench.jpg"] = server.answers["/bench.jpg"]
    answer = fetch(api, server.url + path, **named)

    media = answer.json()["media"]
    assert (answer.status_code, media["filename"], media["mime_type"]) == (201, shown, "image/jpeg")
    assert stored() == [jpeg()]


def test_redirects_are_followed_three_times(api: ApiClient, server: FileServer, stored: Stored) -> None:
    for number, status in enumerate((301, 307, 302, 303)):
        server.redirect(f"/{number}", f"{server.url}/{number + 1}#top", status)
    server.redirect("/3", "bench.jpg")

    assert refusal(fetch(api, f"{server.url}/0")) == "too_many_redirects"
    assert fetch(api, f"{server.url}/1").status_code == 201
    assert stored() == [jpeg()]


@pytest.mark.parametrize(
    "place", ["http://10.0.0.1/bench.jpg", "file:///etc/passwd", "https://user@a.example/b.jpg", "http://[::1/"]
)
def test_a_redirect_is_checked_like_the_first_url(api: ApiClient, server: FileServer, place: str) -> None:
    server.redirect("/away", place)

    assert refusal(fetch(api, f"{server.url}/away")) == "not_allowed"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(404), "unexpected_status"),
        (Answer(206, jpeg()), "unexpected_status"),
        (Answer(204), "unexpected_status"),
        (Answer(302), "unexpected_status"),
        (DROPPED, "no_answer"),
        (CUT, "no_answer"),
    ],
)
def test_a_response_without_a_complete_file_is_refused(
    api: ApiClient, server: FileServer, answer: Answer | RawAnswer, code: str
) -> None:
    server.answers["/bench.jpg"] = answer

    assert refusal(fetch(api, f"{server.url}/bench.jpg")) == code
    assert not MediaAsset.objects.exists()


def test_an_unreachable_url_is_refused(api: ApiClient, server: FileServer) -> None:
    assert refusal(fetch(api, f"http://127.0.0.1:{closed_port()}/bench.jpg")) == "unreachable"


def test_a_loopback_url_is_refused(api: ApiClient, server: FileServer, settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    assert refusal(fetch(api, f"{server.url}/bench.jpg")) == "not_allowed"
    assert server.requests == ()


def test_a_too_large_download_is_stopped(api: ApiClient, server: FileServer, settings: Settings) -> None:
    settings.MEDIA_MAX_BYTES = {"image": 200_000, "video": 400_000, "document": 10}
    server.answers["/picture"] = Answer(200, large_jpeg(300_000))
    server.answers["/unknown"] = Answer(200, bytes(500_000))

    for path in ("/picture", "/unknown"):
        assert_envelope(fetch(api, server.url + path), 413, "PAYLOAD_TOO_LARGE")


def test_the_type_of_a_download_is_detected_from_the_bytes(api: ApiClient, server: FileServer) -> None:
    server.answers["/bench.jpg"] = Answer(200, b"<html>", {"Content-Type": "image/jpeg"})

    assert_envelope(fetch(api, f"{server.url}/bench.jpg"), 422, "MEDIA_TYPE_NOT_ALLOWED")


def test_a_dry_run_fetches_the_file_and_stores_nothing(api: ApiClient, server: FileServer, stored: Stored) -> None:
    url = f"{server.url}/bench.jpg"
    body = fetch(api, url, dry_run=True).json()

    assert (body["request"]["source_url"], body["would_create"]["mime_type"]) == (url, "image/jpeg")
    assert (len(server.requests), stored()) == (1, [])


def test_nothing_is_fetched_for_an_unknown_or_paused_workspace(
    api: ApiClient, workspace: Workspace, server: FileServer
) -> None:
    foreign = fetch(api, f"{server.url}/bench.jpg", workspace_id=new_id("wrk"))
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")
    paused = fetch(api, f"{server.url}/bench.jpg")

    assert [answer.json()["code"] for answer in (foreign, paused)] == ["VALIDATION_FAILED", "WORKSPACE_PAUSED"]
    assert server.requests == ()


def test_a_repeated_idempotency_key_fetches_nothing(api: ApiClient, server: FileServer) -> None:
    answers = [fetch(api, f"{server.url}/bench.jpg", key="1") for _ in range(2)]

    assert len({answer.json()["media"]["id"] for answer in answers}) == 1
    assert len(server.requests) == 1


@pytest.mark.django_db(transaction=True)
def test_the_idempotency_lease_covers_a_slow_download(api: ApiClient, server: FileServer) -> None:
    """A repeated call takes over when the lease has expired; the download may take 20 s, and the scan follows."""
    left: list[timedelta] = []

    def look() -> None:
        lease_until = IdempotencyRecord.objects.get().lease_until
        connection.close()
        assert lease_until
        left.append(lease_until - timezone.now())

    server.looks = look
    fetch(api, f"{server.url}/bench.jpg", key="1")

    assert left[0] > timedelta(minutes=4)


def test_too_many_simultaneous_downloads_are_refused(api: ApiClient, server: FileServer, stored: Stored) -> None:
    with occupy_all_outbound_threads():
        refused = fetch(api, f"{server.url}/bench.jpg", key="1")
        assert api.upload(jpeg()).status_code == 201  # which waits for nobody

    assert_envelope(refused, 429, "RATE_LIMITED")
    assert (refused["Retry-After"], server.requests) == ("5", ())
    assert fetch(api, f"{server.url}/bench.jpg", key="1").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_slow_downloads_of_one_workspace_occupy_at_most_two_threads(api: ApiClient, server: FileServer) -> None:
    held = threading.Event()
    server.looks = lambda: server.hold(held)

    def ask(number: int) -> Any:
        if number < 2:
            return fetch(api, f"{server.url}/bench.jpg")
        server.wait_for(2)
        try:
            return fetch(api, f"{server.url}/bench.jpg")
        finally:
            held.set()

    answers = in_threads(3, ask)

    assert [answer.status_code for answer in answers] == [201, 201, 429]


@pytest.mark.parametrize("behaviour", ["silent", "drips", "leads_on"])
def test_a_download_that_never_finishes_is_aborted_in_time(
    api: ApiClient, server: FileServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.setattr("config.api.request_limits.OUTBOUND_SECONDS", 0.3)
    answers = {"silent": hangs, "drips": drips(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n")}
    with Server(answers.get(behaviour, hangs)) as tarpit:
        server.redirect("/on", tarpit.url)
        url = f"{server.url}/on" if behaviour == "leads_on" else tarpit.url
        assert refusal(fetch(api, url)) == "no_answer"
