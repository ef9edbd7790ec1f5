"""A file is stored only if the scanner has examined all of it and found nothing."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.core.checks import CheckMessage, run_checks
from pytest_django import Settings

from config.api.errors import PayloadTooLarge
from media.errors import MediaMalwareDetected, MediaScanUnavailable
from media.scanning import (
    ALWAYS_SCANNED_BYTES,
    DEFAULT_MAX_FILE_BYTES,
    EICAR_TEST_FILE,
    Clamd,
    CleanOrNotScannedResult,
    find_scanner_limits_below_max_upload,
    scan_for_malware,
)
from tests.fakes.clamd import FakeClamd, Limits, Manner

MIB = 1024 * 1024
CLEAN = CleanOrNotScannedResult("clean", "ClamAV 1.4.3/27654")

Start = Callable[..., FakeClamd]


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Start a clamd and configure it."""
    settings.MEDIA_SCANNER = "clamav"
    with ExitStack() as running:

        def make(**options: object) -> FakeClamd:
            clamd = running.enter_context(FakeClamd(**options))  # type: ignore[arg-type]
            settings.CLAMAV_ADDRESS = clamd.address
            return clamd

        yield make


def file_of(folder: Path, size: int, end: bytes = b"") -> Path:
    """A file of `size` zeros followed by `end`."""
    path = folder / "file"
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(end)
    return path


def nobody_listens() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def check_warnings(*, deployment: bool) -> list[CheckMessage]:
    """The messages of the scanner's system checks."""
    said = run_checks(include_deployment_checks=deployment)
    return [message for message in said if str(message.id).startswith("media.")]


def test_without_a_scanner_files_are_marked_as_not_scanned(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_SCANNER, settings.CLAMAV_ADDRESS = "none", nobody_listens()

    assert scan_for_malware(file_of(tmp_path, 10)) == CleanOrNotScannedResult("not_scanned", "")


@pytest.mark.parametrize("size", [0, 1, ALWAYS_SCANNED_BYTES, 3 * MIB])
def test_a_clean_result_names_the_engine(start: Start, tmp_path: Path, size: int) -> None:
    clamd = start()

    assert scan_for_malware(file_of(tmp_path, size)) == CLEAN
    assert clamd.streams[0] == size


@pytest.mark.parametrize("size", [0, 3 * MIB])
def test_malware_is_refused_anywhere_in_the_file(
    start: Start, tmp_path: Path, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    start()

    with caplog.at_level(logging.WARNING), pytest.raises(MediaMalwareDetected, match="Eicar-Test-Signature"):
        scan_for_malware(file_of(tmp_path, size, EICAR_TEST_FILE))
    assert "Eicar-Test-Signature" in caplog.text


@pytest.mark.parametrize("size", [200_000, 3 * MIB], ids=["soon", "with much still to send"])
def test_a_file_beyond_the_longest_stream_is_too_large(start: Start, tmp_path: Path, size: int) -> None:
    start(limits=Limits(stream=100_000))

    with pytest.raises(PayloadTooLarge, match="scanner"):
        scan_for_malware(file_of(tmp_path, size))


@pytest.mark.parametrize("alert", [True, False], ids=["reported", "not reported"])
@pytest.mark.parametrize("end", [b"", EICAR_TEST_FILE], ids=["clean", "malware at the end"])
def test_a_file_beyond_the_largest_file_is_never_clean(start: Start, tmp_path: Path, alert: bool, end: bytes) -> None:
    start(limits=Limits(file=2 * MIB, alert=alert))

    with pytest.raises(PayloadTooLarge, match="scanner"):
        scan_for_malware(file_of(tmp_path, 2 * MIB, end or b"\0"))
    assert scan_for_malware(file_of(tmp_path, 2 * MIB)) == CLEAN


def test_signatures_without_the_test_file_are_trusted_up_to_the_default_limit(start: Start, tmp_path: Path) -> None:
    start(knows_eicar=False)

    assert scan_for_malware(file_of(tmp_path, DEFAULT_MAX_FILE_BYTES)) == CLEAN
    with pytest.raises(PayloadTooLarge):
        scan_for_malware(file_of(tmp_path, DEFAULT_MAX_FILE_BYTES + 1))


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"OK",
        b"stream: OK ERROR",
        b"stream: FOUND",
        b"stream: Can't allocate memory ERROR",
        b"UNKNOWN COMMAND",
        b"220 mail.example.com ESMTP",
        b"\xff\xfe\x00",
    ],
)
def test_an_invalid_reply_of_the_scanner_refuses_the_file(start: Start, tmp_path: Path, reply: bytes) -> None:
    start(replies={"INSTREAM": reply or b" "})

    with pytest.raises(MediaScanUnavailable):
        scan_for_malware(file_of(tmp_path, 10))


@pytest.mark.parametrize("manner", [Manner.DROP, Manner.ENDLESS])
@pytest.mark.parametrize("size", [10, 3 * MIB])
def test_a_scanner_that_disconnects_refuses_the_file(start: Start, tmp_path: Path, manner: Manner, size: int) -> None:
    start(manner=manner)

    with pytest.raises(MediaScanUnavailable) as refused:
        scan_for_malware(file_of(tmp_path, size))
    assert refused.value.headers == {"Retry-After": "60"}


@pytest.mark.parametrize("address", ["nobody", "127.0.0.1:0x", "127.0.0.1:99999", "[::1", ""])
def test_an_unreachable_scanner_refuses_the_file(settings: Settings, tmp_path: Path, address: str) -> None:
    settings.MEDIA_SCANNER = "clamav"
    settings.CLAMAV_ADDRESS = nobody_listens() if address == "nobody" else address

    with pytest.raises(MediaScanUnavailable):
        scan_for_malware(file_of(tmp_path, 10))


def test_a_hanging_scanner_times_out(start: Start) -> None:
    clamd = start(manner=Manner.HANG)

    with pytest.raises(TimeoutError):
        Clamd(clamd.address, seconds=0.1).scan_and_return_verdict([b"piece"])


def test_a_verdict_before_the_whole_file_was_sent_is_not_accepted(start: Start) -> None:
    clamd = start(manner=Manner.EARLY)

    with pytest.raises(OSError, match="whole file"):
        Clamd(clamd.address, seconds=30).scan_and_return_verdict(bytes(MIB) for _ in range(64))


@pytest.mark.parametrize("version", [b"ClamAV 1.4.3", b"clamav-rest 2", b"ClamAV 1.4.3/27654", b"ClamAV " + b"9" * 300])
def test_only_a_clamav_version_is_stored_as_engine(start: Start, tmp_path: Path, version: bytes) -> None:
    start(replies={"VERSION": version})

    engine = scan_for_malware(file_of(tmp_path, 10)).engine
    assert engine == (version[:100].decode() if version.startswith(b"ClamAV") else "ClamAV")


def test_sufficient_limits_cause_no_warning(start: Start, settings: Settings) -> None:
    settings.MEDIA_MAX_BYTES = {"image": MIB, "video": 3 * MIB}
    start(limits=Limits(stream=3 * MIB, file=3 * MIB))

    assert find_scanner_limits_below_max_upload() == []
    assert check_warnings(deployment=True) == []


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(stream=3 * MIB - 1), ["StreamMaxLength"]),
        (Limits(file=3 * MIB - 512), ["MaxFileSize"]),
        (Limits(file=3 * MIB - 512, alert=True), ["MaxFileSize"]),
        (Limits(stream=100_000, file=100_000), ["StreamMaxLength", "MaxFileSize"]),
    ],
)
def test_limits_below_the_largest_upload_are_reported_by_the_deployment_check(
    start: Start, settings: Settings, limits: Limits, named: list[str]
) -> None:
    settings.MEDIA_MAX_BYTES = {"image": MIB, "video": 3 * MIB}
    start(limits=limits)

    warnings = check_warnings(deployment=True)
    assert [message.id for message in warnings] == ["media.W002"] * len(named)
    assert [name in message.msg for name, message in zip(named, warnings, strict=True)] == [True] * len(named)
    assert check_warnings(deployment=False) == []


def test_an_unreachable_scanner_is_a_warning_of_the_system_check(start: Start, settings: Settings) -> None:
    start()
    assert check_warnings(deployment=False) == []

    settings.CLAMAV_ADDRESS = nobody_listens()
    (warning,) = check_warnings(deployment=False)
    assert (warning.id, warning.is_serious()) == ("media.W001", False)
    assert settings.CLAMAV_ADDRESS in warning.msg

    start(replies={"PING": b"220 mail.example.com"})
    assert [message.id for message in check_warnings(deployment=False)] == ["media.W001"]

    settings.MEDIA_SCANNER = "none"
    assert check_warnings(deployment=True) == []
