"""A bucket that accepts connections and never answers: waiting requests are limited in time and number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.config import Config
from django.test import Client
from pytest_django import Settings

from config.api.errors import ServiceUnavailable
from config.environment import storages_setting
from media import backend_limits, object_storage
from media.links import media_file_for_adapter
from media.models import MediaAsset
from tests import factories
from tests.config.outbound_servers import Server, hangs
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.media.pictures import jpeg


class HangingBucket(Server):
    """A server that counts its connections and never answers."""

    def __init__(self) -> None:
        self.connections = 0
        super().__init__(self._hang)

    def _hang(self, *connection: Any) -> None:
        self.connections += 1
        hangs(*connection)


@pytest.fixture
def bucket(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingBucket]:
    """The service's bucket, with timeouts a hundred times shorter."""
    short = object_storage.CLIENT_CONFIG.merge(Config(connect_timeout=0.1, read_timeout=0.1))
    monkeypatch.setattr(object_storage, "CLIENT_CONFIG", short)
    monkeypatch.setattr(backend_limits, "SLOW_SECONDS", 0.1)
    with HangingBucket() as server:
        query = f"endpoint_url=http://127.0.0.1:{server.port}&access_key=AKIA1&secret_key=secret&region_name=us-east-1"
        settings.STORAGES = storages_setting(f"s3://media?{query}&addressing_style=path")
        yield server


@pytest.fixture
def all_threads_wait() -> Iterator[None]:
    """Occupy all threads that may wait for the bucket or the scanner."""
    count = 0
    while backend_limits.backend_thread_limit.try_acquire_thread():
        count += 1
    yield
    for _ in range(count):
        backend_limits.backend_thread_limit.release_thread()


def fetch(asset: MediaAsset) -> Any:
    """Fetch the file through the service by the link for platforms."""
    parts = urlsplit(media_file_for_adapter(asset).url)
    return Client().get(f"{parts.path}?{parts.query}")


def test_a_stalled_bucket_call_ends_within_twenty_seconds() -> None:
    limits = object_storage.CLIENT_CONFIG
    longest = limits.connect_timeout + limits.read_timeout

    assert limits.retries["total_max_attempts"] * longest <= 20


def test_an_upload_to_a_stalled_bucket_makes_two_attempts(api: ApiClient, bucket: HangingBucket) -> None:
    answer = api.upload(jpeg())

    assert_envelope(answer, 503, "SERVICE_UNAVAILABLE")
    assert int(answer["Retry-After"]) > 0
    assert bucket.connections == 2
    assert not MediaAsset.objects.exists()


def test_calls_after_a_timeout_are_refused_without_a_request_to_the_bucket(api: ApiClient, bucket: HangingBucket) -> None:
    asset = factories.MediaAssetFactory()
    api.upload(jpeg())
    upload, file = api.upload(jpeg()), fetch(asset)

    assert (upload.status_code, file.status_code) == (503, 503)
    assert 0 < int(upload["Retry-After"]) <= backend_limits.BREAKER_PAUSE_SECONDS
    assert bucket.connections == 2


def test_after_the_pause_one_call_tests_the_bucket(
    api: ApiClient, bucket: HangingBucket, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(backend_limits, "BREAKER_PAUSE_SECONDS", 0.0)
    asked = [(api.upload(jpeg()).status_code, bucket.connections) for _ in range(2)]
    assert asked == [(503, 2), (503, 4)]

    settings.STORAGES = storages_setting("")
    assert api.upload(jpeg()).status_code == 201


def test_other_calls_are_refused_while_one_tests_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_limits, "SLOW_SECONDS", 0.0)
    breaker = backend_limits.CircuitBreaker()

    def call(work: Callable[[], None] = lambda: None) -> bool:
        """Whether the circuit breaker let the call through."""
        try:
            with breaker.guard():
                work()
        except ServiceUnavailable:
            return False
        return True

    def fail() -> None:
        raise ServiceUnavailable()

    monkeypatch.setattr(backend_limits, "BREAKER_PAUSE_SECONDS", 0.0)
    assert not call(fail)
    others: list[bool] = []
    monkeypatch.setattr(backend_limits, "BREAKER_PAUSE_SECONDS", 1000.0)
    assert call(lambda: others.append(call()))
    assert others == [False]
    assert call()


@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_the_bucket_only_once(api: ApiClient, workspace: Any, bucket: HangingBucket) -> None:
    """File and thumbnail are in the bucket; the purge removes what the request could not."""
    asset = factories.MediaAssetFactory(workspace=workspace, storage_key="wrk/a.jpg", thumbnail_key="wrk/b.jpg")

    assert api.delete(f"/media/{asset.id}").status_code == 200
    assert bucket.connections == 2


@pytest.mark.usefixtures("all_threads_wait")
def test_at_most_half_of_the_threads_wait_for_the_bucket(api: ApiClient, bucket: HangingBucket) -> None:
    asset = factories.MediaAssetFactory()
    for answer in (api.upload(jpeg()), fetch(asset)):
        assert_envelope(answer, 503, "SERVICE_UNAVAILABLE")
        assert answer["Retry-After"] == "5"
    assert bucket.connections == 0


@pytest.mark.usefixtures("all_threads_wait")
def test_local_files_need_no_reserved_thread(api: ApiClient) -> None:
    assert api.upload(jpeg()).status_code == 201


@pytest.mark.usefixtures("all_threads_wait")
def test_at_most_half_of_the_threads_wait_for_the_scanner(api: ApiClient, settings: Settings) -> None:
    settings.MEDIA_SCANNER = "clamav"

    answer = api.upload(jpeg())

    assert_envelope(answer, 503, "SERVICE_UNAVAILABLE")
    assert answer["Retry-After"] == "5"
