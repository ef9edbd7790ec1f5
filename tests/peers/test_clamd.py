"""Uploads against a real clamd (CLAMAV_TEST_ADDRESS), which tests/peers/start_clamd.sh starts."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from pytest_django import Settings

from config.api.errors import PayloadTooLarge
from media.errors import MediaMalwareDetected
from media.scanning import EICAR_TEST_FILE, find_scanner_limits_below_max_upload, scan_for_malware

ADDRESS = os.environ.get("CLAMAV_TEST_ADDRESS", "")
MIB = 1024 * 1024
LARGEST_FILE, LONGEST_STREAM = 30 * MIB, 40 * MIB  # start_clamd.sh

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not ADDRESS, reason="CLAMAV_TEST_ADDRESS names no clamd to test against")]


@pytest.fixture(autouse=True)
def _clamav(settings: Settings) -> None:
    settings.MEDIA_SCANNER, settings.CLAMAV_ADDRESS = "clamav", ADDRESS


def file_of(folder: Path, size: int, end: bytes = b"") -> Path:
    """Create a file of `size` bytes: zeros, then `end`."""
    path = folder / "file"
    with path.open("wb") as file:
        file.truncate(size - len(end))
        file.seek(0, os.SEEK_END)
        file.write(end)
    return path


@pytest.mark.parametrize("size", [0, 1000, 3 * MIB, LARGEST_FILE])
def test_a_clean_file_is_clean(tmp_path: Path, size: int) -> None:
    outcome = scan_for_malware(file_of(tmp_path, size))

    assert outcome.status == "clean"
    assert outcome.engine.startswith("ClamAV ")


@pytest.mark.parametrize("size", [len(EICAR_TEST_FILE), 1000, 3 * MIB, LARGEST_FILE])
def test_malware_at_the_end_of_a_file_is_found(tmp_path: Path, size: int) -> None:
    with pytest.raises(MediaMalwareDetected, match="Eicar-Test-Signature"):
        scan_for_malware(file_of(tmp_path, size, EICAR_TEST_FILE))


def test_malware_in_an_archive_after_an_image_is_found(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside", EICAR_TEST_FILE * 2)
    path = tmp_path / "file"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + archive.getvalue())

    with pytest.raises(MediaMalwareDetected):
        scan_for_malware(path)


@pytest.mark.parametrize("end", [b"", EICAR_TEST_FILE], ids=["clean", "malware at the end"])
@pytest.mark.parametrize("size", [LARGEST_FILE + 1, LARGEST_FILE + MIB, LONGEST_STREAM, LONGEST_STREAM + 1, 60 * MIB])
def test_a_file_that_clamd_would_not_scan_completely_is_refused(tmp_path: Path, size: int, end: bytes) -> None:
    with pytest.raises(PayloadTooLarge):
        scan_for_malware(file_of(tmp_path, size, end))


@pytest.mark.parametrize(
    ("largest", "named"),
    [
        (LARGEST_FILE, []),
        (LARGEST_FILE + 1, ["MaxFileSize"]),
        (LONGEST_STREAM, ["MaxFileSize"]),
        (LONGEST_STREAM + 1, ["StreamMaxLength", "MaxFileSize"]),
    ],
)
def test_scanner_limits_below_the_largest_upload_are_reported(settings: Settings, largest: int, named: list[str]) -> None:
    settings.MEDIA_MAX_BYTES = {"image": MIB, "video": largest}

    problems = find_scanner_limits_below_max_upload()
    assert [name in problem for name, problem in zip(named, problems, strict=True)] == [True] * len(named)
