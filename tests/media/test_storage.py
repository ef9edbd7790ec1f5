"""Stored files, in a local folder and in a bucket (moto serves S3 over HTTP on loopback)."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import boto3
import pytest
import requests
import time_machine
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone
from moto.server import ThreadedMotoServer
from pytest_django import Settings

from config.api.errors import ServiceUnavailable
from config.api.uploads import purge_upload_temp_files
from config.environment import storages_setting
from media import storage
from media.links import media_file_for_adapter, signed_file_url
from media.models import MediaAsset
from tests import factories

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ACCESS = "&access_key=AKIA1&secret_key=a%2Bsecret%2Fkey"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def client(endpoint: str) -> Any:
    """An S3 client for the operator's side."""
    keys = {"aws_access_key_id": "AKIA1", "aws_secret_access_key": "a+secret/key"}
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)


@pytest.fixture
def bucket(client: Any, endpoint: str, settings: Settings) -> str:
    """A new bucket, configured with a prefix."""
    name = f"media-{secrets.token_hex(6)}"
    client.create_bucket(Bucket=name)
    settings.STORAGES = storages_setting(f"s3://{name}?endpoint_url={quote(endpoint)}&prefix=/posts/{ACCESS}")
    return name


@pytest.fixture
def folder(settings: Settings) -> Path:
    """The local storage folder."""
    return Path(settings.MEDIA_ROOT)


@pytest.fixture(params=["files", "bucket"])
def place(request: pytest.FixtureRequest) -> str:
    """Each of the two storages."""
    if request.param == "bucket":
        request.getfixturevalue("bucket")
    return str(request.param)


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "Holiday photo.jpg"
    path.write_bytes(CONTENT)
    return path


def store(upload: Path, workspace_id: str = "wrk_1") -> str:
    key = storage.new_storage_key(workspace_id=workspace_id, sha256=SHA256, suffix=".jpg")
    storage.store_file(upload, key)
    return key


def read(key: str) -> bytes:
    with storage.open_file(key) as file:
        return file.read()


def uploaded_asset(upload: Path) -> MediaAsset:
    asset: MediaAsset = factories.MediaAssetFactory(storage_key=store(upload), sha256=SHA256, size_bytes=len(CONTENT))
    return asset


def get(url: str, method: str = "GET", **headers: str) -> Any:
    parts = urlsplit(url)
    return Client().generic(method, f"{parts.path}?{parts.query}", headers=headers)


def test_a_stored_file_can_be_read_until_it_is_removed(place: str, upload: Path) -> None:
    key = store(upload)

    assert (read(key), read(key), storage.stored_size(key)) == (CONTENT, CONTENT, len(CONTENT))
    assert upload.read_bytes() == CONTENT
    assert abs(storage.time_when_stored(key) - timezone.now()) < timedelta(minutes=1)

    storage.remove_file(key)
    storage.remove_file(key)
    for gone in (storage.open_file, storage.stored_size):
        with pytest.raises(FileNotFoundError):
            gone(key)
    with pytest.raises(FileNotFoundError):
        storage.open_range(key, 0, 1).read()


def test_equal_bytes_are_stored_under_distinct_random_keys(place: str, upload: Path) -> None:
    first, second = store(upload), store(upload)

    assert first != second
    assert first.startswith(f"wrk_1/{SHA256}-")
    assert first.endswith(".jpg")
    storage.remove_file(first)
    assert read(second) == CONTENT


def test_all_keys_returns_every_stored_file(place: str, upload: Path) -> None:
    assert list(storage.all_storage_keys()) == []

    keys = {store(upload, workspace) for workspace in ("wrk_1", "wrk_1", "wrk_2")}
    assert set(storage.all_storage_keys()) == keys
    assert len(keys) == 3


def test_a_byte_range_begins_at_the_requested_offset(place: str, upload: Path) -> None:
    with storage.open_range(store(upload), 1000, 24) as part:
        assert part.read(24) == CONTENT[1000:1024]


def test_stored_files_are_readable_only_by_the_service(folder: Path, upload: Path) -> None:
    path = folder / store(upload)

    modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent, folder)]
    assert modes == [0o600, 0o700, 0o700]


def test_a_folder_that_cannot_be_written_stores_nothing(folder: Path, upload: Path) -> None:
    folder.write_text("not a folder")

    with pytest.raises(ServiceUnavailable, match="storage"):
        store(upload)


def test_objects_are_private_and_under_the_prefix(bucket: str, client: Any, endpoint: str, upload: Path) -> None:
    client.put_object(Bucket=bucket, Key="other/wrk_9/file", Body=b"another program's")
    key = store(upload)

    stored = client.get_object(Bucket=bucket, Key=f"posts/{key}")
    assert (stored["Body"].read(), stored["ContentType"]) == (CONTENT, "image/jpeg")
    assert list(storage.all_storage_keys()) == [key]
    assert requests.Session().get(f"{endpoint}/{bucket}/posts/{key}", timeout=5).status_code == 403


def test_a_missing_bucket_stores_nothing(endpoint: str, settings: Settings, upload: Path) -> None:
    settings.STORAGES = storages_setting(f"s3://nowhere?endpoint_url={quote(endpoint)}{ACCESS}")

    with pytest.raises(ServiceUnavailable, match="storage"):
        store(upload)
    with pytest.raises(ServiceUnavailable):
        list(storage.all_storage_keys())


@pytest.mark.django_db
def test_a_link_redirects_to_a_url_of_the_bucket_that_soon_expires(bucket: str, upload: Path) -> None:
    asset = uploaded_asset(upload)
    answer = get(signed_file_url(asset))

    assert (answer.status_code, answer["Cache-Control"]) == (302, "private, no-store")
    assert "X-Amz-Expires=60" in answer["Location"]
    fetched = requests.Session().get(answer["Location"], timeout=5)
    assert (fetched.status_code, fetched.content) == (200, CONTENT)
    assert fetched.headers["Content-Type"] == "image/jpeg"
    assert fetched.headers["Content-Disposition"] == 'inline; filename="bench.jpg"'

    head = requests.Session().head(get(signed_file_url(asset), "HEAD")["Location"], timeout=5)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(CONTENT)))
    assert get(signed_file_url(asset), if_none_match=f'"{SHA256}"').status_code == 304


@pytest.mark.django_db
def test_links_for_platforms_do_not_redirect(bucket: str, upload: Path) -> None:
    file = media_file_for_adapter(uploaded_asset(upload))

    whole, part = get(file.url), get(file.url, range="bytes=1000-1023")
    assert (whole.status_code, b"".join(whole.streaming_content)) == (200, CONTENT)
    assert (part.status_code, b"".join(part.streaming_content)) == (206, CONTENT[1000:1024])
    assert get(file.url, "HEAD")["Content-Length"] == str(len(CONTENT))
    with file.open() as opened:
        assert opened.read() == CONTENT


@pytest.mark.django_db
def test_a_file_missing_in_the_bucket_is_not_found(bucket: str, upload: Path) -> None:
    asset = uploaded_asset(upload)
    storage.remove_file(asset.storage_key)

    assert get(media_file_for_adapter(asset).url).status_code == 404


def test_old_leftovers_of_killed_processes_are_removed(incoming: Path) -> None:
    (incoming / "old").touch()
    (incoming / "folder").mkdir()
    later = timezone.now() + timedelta(hours=2)
    with time_machine.travel(later, tick=False):
        new = incoming / "new"
        new.touch()
        os.utime(new, (later.timestamp(), later.timestamp()))

        assert purge_upload_temp_files(timedelta(hours=1)) == 1
    assert {path.name for path in incoming.iterdir()} == {"new", "folder"}


def test_without_a_storage_url_files_are_stored_locally() -> None:
    assert storages_setting("")["default"] == {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    }


def test_a_storage_url_contains_all_options_of_the_bucket() -> None:
    url = "s3://media.example?endpoint_url=https%3A%2F%2Fs3.example%3A9000&region_name=auto&prefix=a/b&addressing_style=path"

    assert storages_setting(url + ACCESS)["default"]["OPTIONS"] == {
        "bucket_name": "media.example",
        "endpoint_url": "https://s3.example:9000",
        "region_name": "auto",
        "location": "a/b",
        "addressing_style": "path",
        "access_key": "AKIA1",
        "secret_key": "a+secret/key",
    }
    assert storages_setting("s3://media")["default"]["OPTIONS"] == {"bucket_name": "media", "location": ""}


@pytest.mark.parametrize(
    "url",
    [
        "media",
        "https://s3.example/media",
        "s3://",
        "s3://media/folder",
        "s3://key:hidden@media",
        "s3://media?endpoint=https://s3.example",
        "s3://media?endpoint_url=s3.example",
        "s3://media?endpoint_url=file:///etc",
        "s3://media?secret_key=hidden",
        "s3://media?secret_key=hidden&hidden",
        "s3://[media?secret_key=hidden",
    ],
)
def test_an_invalid_storage_url_is_refused_with_the_settings_name(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^STORAGE_URL") as refused:
        storages_setting(url)
    assert "hidden" not in str(refused.value)


def test_the_service_does_not_start_with_an_invalid_storage_url(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=configured.BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path / "new"), "STORAGE_URL": "ftp://files.example"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert result.returncode != 0
    assert "STORAGE_URL must be s3://bucket" in result.stderr
    assert stat.S_IMODE((tmp_path / "new/incoming").stat().st_mode) == 0o700
