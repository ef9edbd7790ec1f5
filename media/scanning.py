"""Has a file scanned before anything of it is kept; only a verdict on the whole file counts.

ClamAV passes what lies beyond its MaxFileSize and MaxScanSize unseen, and answers OK. Its protocol does not tell these
limits, so they are found out: it is given as many zeros as the file has bytes, packed to a thousandth, with the EICAR
test file behind them. Where it reports the test file, or (with AlertExceedsMax) a limit, it would have seen the whole
of a file of that size.
"""

from __future__ import annotations

import logging
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from django.conf import settings

from config.api.errors import PayloadTooLarge
from media.backend_limits import backend_thread
from media.clamd import Clamd
from media.errors import MediaMalwareDetected, MediaScanUnavailable

logger = logging.getLogger(__name__)

BASE_SCAN_SECONDS = 20.0  # for one scan, and one more for each BYTES_PER_SECOND
BYTES_PER_SECOND = 10_000_000
CHUNK_BYTES = 262_144
# Smaller files are seen whole by any clamd. Up to the second size, the smallest MaxFileSize that packages of ClamAV
# come with, one is believed whose signatures do not know the test file at all.
ALWAYS_WHOLE_BYTES = 1024 * 1024
DEFAULT_MAX_FILE_BYTES = 25 * 1024 * 1024
# https://www.eicar.org/download-anti-malware-testfile/; in two halves, so that no scanner flags this file.
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" + b"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

_FOUND = re.compile(r"stream: (\S.*) FOUND")
_LIMITS = "Heuristics.Limits.Exceeded"


@dataclass(frozen=True)
class ScanResult:
    """The outcome of a scan that flagged nothing, by which engine, such as `ClamAV 1.4.3/27654`."""

    status: Literal["clean", "not_scanned"]
    engine: str = ""


def scan(path: Path) -> ScanResult:
    """Have the file scanned, as MEDIA_SCANNER says.

    Raises MediaMalwareDetected, MediaScanUnavailable, ServiceUnavailable (too many wait for it), PayloadTooLarge (for a
    file that the scanner would not see whole).
    """
    if settings.MEDIA_SCANNER == "none":
        return ScanResult("not_scanned")
    size = path.stat().st_size
    with backend_thread(), path.open("rb") as file:
        try:
            clamd = _clamd(size)
            _judge(clamd.scan(_pieces(file)))
            if size > ALWAYS_WHOLE_BYTES and not _sees_whole(clamd, size):
                raise _too_large()
        except OSError as error:
            logger.error("The scanner at %s gave no verdict: %s", settings.CLAMAV_ADDRESS, error)
            raise MediaScanUnavailable() from error
    return ScanResult("clean", _engine(clamd))


def scanner_limit_problems() -> list[str]:
    """What keeps the scanner from uploads as large as the settings allow, one sentence for each; [] when nothing does.

    It takes some seconds with uploads of hundreds of megabytes. Raises OSError when the scanner does not answer.
    """
    largest = max(settings.MEDIA_MAX_BYTES.values())
    clamd = _clamd(largest)
    problems = []
    if not clamd.takes(largest):
        problems.append(f"clamd's StreamMaxLength is below {largest} bytes; larger files are refused with 413.")
    found = _FOUND.fullmatch(clamd.scan(_test_file_behind(largest)))
    if found is None or found[1].startswith(_LIMITS):
        problems.append(
            f"clamd does not see files of {largest} bytes whole (MaxFileSize, MaxScanSize), so they are refused with 413."
        )
    return problems


def ping_scanner() -> None:
    """Raises OSError when the scanner does not answer."""
    reply = Clamd(settings.CLAMAV_ADDRESS, seconds=2).ask("PING")
    if reply != "PONG":
        raise ConnectionError("it is no clamd")


def _clamd(size: int) -> Clamd:
    return Clamd(settings.CLAMAV_ADDRESS, seconds=BASE_SCAN_SECONDS + size / BYTES_PER_SECOND)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(CHUNK_BYTES):
        yield piece


def _judge(reply: str) -> None:
    """Returns when the reply says that the stream is clean."""
    found = _FOUND.fullmatch(reply)
    if found and found[1].startswith(_LIMITS):
        raise _too_large()
    if found:
        logger.warning("The scanner flagged an upload: %s", found[1])
        raise MediaMalwareDetected(f"The scanner flagged this file as malicious ({found[1]}); nothing of it was kept.")
    if reply.endswith("size limit exceeded. ERROR"):
        raise _too_large()
    if reply != "stream: OK":
        raise ConnectionError(f"it answered {reply[:200]!r}")


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(
        "The file is larger than the scanner can see whole, so nothing of it was kept.",
        suggested_action="Send a smaller file, or ask the operator to raise the scanner's limits.",
    )


def _sees_whole(clamd: Clamd, size: int) -> bool:
    """Whether clamd's answer on a file of `size` bytes was about all of them."""
    if _FOUND.fullmatch(clamd.scan(_test_file_behind(size))):
        return True
    if size <= DEFAULT_MAX_FILE_BYTES and not _FOUND.fullmatch(clamd.scan(_test_file_behind(0))):
        return True
    logger.warning("The scanner does not find the EICAR test file behind %d bytes: are its limits too low?", size)
    return False


def _test_file_behind(size: int) -> Iterator[bytes]:
    """A tar of `size` bytes, compressed: zeros in a global header, which no reader takes for a file, and then EICAR."""
    behind = _tar_header("eicar", len(EICAR), tarfile.REGTYPE) + EICAR.ljust(tarfile.BLOCKSIZE, b"\0")
    size = max(0, size + -size % tarfile.BLOCKSIZE - tarfile.BLOCKSIZE - len(behind))
    packer = zlib.compressobj(1, wbits=31)
    yield packer.compress(_tar_header("zeros", size, tarfile.XGLTYPE))
    zeros = bytes(CHUNK_BYTES)
    for start in range(0, size, CHUNK_BYTES):
        yield packer.compress(zeros[: size - start])
    yield packer.compress(behind) + packer.flush()


def _tar_header(name: str, size: int, kind: bytes) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.USTAR_FORMAT)


def _engine(clamd: Clamd) -> str:
    """Its version and that of its signatures: `ClamAV 1.4.3/27654/Mon Jun 2 …` without the date."""
    try:
        told = clamd.ask("VERSION")
    except OSError:  # the verdict is what counts
        told = ""
    return "/".join(told.split("/")[:2])[:100] if told.startswith("ClamAV") else "ClamAV"
