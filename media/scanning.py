"""Malware scanning of uploads with ClamAV over TCP; an upload is accepted only if the scanner examined all of it.

ClamAV skips data beyond its MaxFileSize and MaxScanSize and still replies OK, and its protocol does not report these
limits. So they are tested: ClamAV scans as many compressed zeros as the file has bytes, followed by the EICAR test file.
If it reports the test file, or (with AlertExceedsMax) an exceeded limit, it would also examine all of a file of that size.
"""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import struct
import tarfile
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop

from config.api.errors import PayloadTooLarge
from media.backend_limits import limit_threads_waiting_for_backend
from media.errors import MediaMalwareDetected, MediaScanUnavailable

logger = logging.getLogger(__name__)

CLAMD_PORT = 3310  # if CLAMAV_ADDRESS has none
CONNECT_SECONDS = 5.0
REPLY_BYTES = 4096
BASE_SCAN_SECONDS = 20.0  # per scan, plus one second for each BYTES_PER_SECOND
BYTES_PER_SECOND = 10_000_000
CHUNK_BYTES = 262_144
# Every clamd examines smaller files completely. Up to DEFAULT_MAX_FILE_BYTES, the smallest default of ClamAV packages, a
# clamd whose signatures lack the test file is trusted.
ALWAYS_SCANNED_BYTES = 1024 * 1024
DEFAULT_MAX_FILE_BYTES = 25 * 1024 * 1024
# https://www.eicar.org/download-anti-malware-testfile/; split so that scanners do not flag this source file.
EICAR_TEST_FILE = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" + b"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

_FOUND = re.compile(r"stream: (\S.*) FOUND")
_LIMITS = "Heuristics.Limits.Exceeded"


@dataclass(frozen=True)
class CleanOrNotScannedResult:
    """The result for an upload in which no malware was found: `clean`, or `not_scanned` if the service has no scanner.

    `engine` is the scanner's version, such as `ClamAV 1.4.3/27654`; it is empty without a scanner.
    """

    status: Literal["clean", "not_scanned"]
    engine: str = ""


def scan_for_malware(path: Path) -> CleanOrNotScannedResult:
    """Scan an uploaded file for malware with the scanner that the setting MEDIA_SCANNER selects.

    Raises MediaMalwareDetected, MediaScanUnavailable, ServiceUnavailable (too many requests wait for the scanner),
    PayloadTooLarge (the scanner would not examine the whole file).
    """
    if settings.MEDIA_SCANNER == "none":
        return CleanOrNotScannedResult("not_scanned")
    size = path.stat().st_size
    with limit_threads_waiting_for_backend(), path.open("rb") as file:
        try:
            clamd = _clamd(size)
            _require_clean(clamd.scan_and_return_verdict(iter(lambda: file.read(CHUNK_BYTES), b"")))
            if size > ALWAYS_SCANNED_BYTES and not _scans_whole_file(clamd, size):
                raise _too_large()
        except OSError as error:
            logger.error("The scanner at %s sent no valid reply: %s", settings.CLAMAV_ADDRESS, error)
            raise MediaScanUnavailable from error
    return CleanOrNotScannedResult("clean", _engine(clamd))


def find_scanner_limits_below_max_upload() -> list[str]:
    """Test the malware scanning of the largest upload; returns descriptions of the scanner's size limits that are too low.

    Takes some seconds if uploads of hundreds of megabytes are allowed. Raises OSError if the scanner does not answer.
    """
    largest = max(settings.MEDIA_MAX_BYTES.values())
    clamd = _clamd(largest)
    problems = []
    if not clamd.accepts_scan_size(largest):
        problems.append(f"clamd's StreamMaxLength is below {largest} bytes; larger files are refused with 413.")
    found = _FOUND.fullmatch(clamd.scan_and_return_verdict(_test_file_behind(largest)))
    if found is None or found[1].startswith(_LIMITS):
        problems.append(
            f"clamd does not scan {largest} bytes completely (MaxFileSize, MaxScanSize); such files are refused with 413."
        )
    return problems


def ping_scanner() -> None:
    """Malware scanning: ping clamd, the scanner daemon; raises OSError if it does not answer."""
    reply = Clamd(settings.CLAMAV_ADDRESS, seconds=2).send_command("PING")
    if reply != "PONG":
        raise ConnectionError("it is not a clamd")


def _clamd(size: int) -> Clamd:
    return Clamd(settings.CLAMAV_ADDRESS, seconds=BASE_SCAN_SECONDS + size / BYTES_PER_SECOND)


def _require_clean(reply: str) -> None:
    """Check that the malware scanner's reply says that the file is clean; raises the matching API error otherwise."""
    found = _FOUND.fullmatch(reply)
    if found and found[1].startswith(_LIMITS):
        raise _too_large()
    if found:
        logger.warning("The scanner flagged an upload: %s", found[1])
        raise MediaMalwareDetected(f"The scanner flagged this file as malicious ({found[1]}); it was not stored.")
    if reply.endswith("size limit exceeded. ERROR"):
        raise _too_large()
    if reply != "stream: OK":
        raise ConnectionError(f"it answered {reply[:200]!r}")


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(
        gettext_noop("The file is larger than the scanner can examine, so it was not stored."),
        suggested_action=gettext_noop("Send a smaller file, or ask the operator to raise the scanner's limits."),
    )


def _scans_whole_file(clamd: Clamd, size: int) -> bool:
    """Return whether the malware scanner clamd would find malware at the end of a file of `size` bytes, by trying it."""
    if _FOUND.fullmatch(clamd.scan_and_return_verdict(_test_file_behind(size))):
        return True
    if size <= DEFAULT_MAX_FILE_BYTES and not _FOUND.fullmatch(clamd.scan_and_return_verdict(_test_file_behind(0))):
        return True
    logger.warning("The scanner does not find the EICAR test file behind %d bytes: are its limits too low?", size)
    return False


def _test_file_behind(size: int) -> Iterator[bytes]:
    """Yield a compressed tar archive of `size` bytes that ends with EICAR's test file for malware scanners.

    Zeros in a global header, which is not scanned as a file, precede the test file.
    """
    behind = _tar_header("eicar", len(EICAR_TEST_FILE), tarfile.REGTYPE) + EICAR_TEST_FILE.ljust(tarfile.BLOCKSIZE, b"\0")
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
    """Return the versions of the ClamAV scanner and its signatures, for example `ClamAV 1.4.3/27654`."""
    try:
        version = clamd.send_command("VERSION")
    except OSError:  # the scan has succeeded anyway
        version = ""
    return "/".join(version.split("/")[:2])[:100] if version.startswith("ClamAV") else "ClamAV"


class Clamd:
    """A client of clamd, ClamAV's scanner daemon, at `address` (host:port); all calls must end within `seconds`.

    Uses the NUL-terminated commands of clamd(8). Methods raise OSError if clamd is down, too slow (TimeoutError)
    or closes the connection without a reply.
    """

    def __init__(self, address: str, *, seconds: float) -> None:
        self._address = address
        self._deadline = time.monotonic() + seconds

    def send_command(self, command: str) -> str:
        """Send the scanner daemon clamd a command without data, such as PING or VERSION, and return the reply."""
        return self._exchange([_command(command)])

    def scan_and_return_verdict(self, pieces: Iterable[bytes]) -> str:
        """Scan bytes for malware with clamd and return its verdict, such as `stream: OK`.

        Another is `INSTREAM size limit exceeded. ERROR`.
        """
        return self._exchange(_stream(pieces))

    def accepts_scan_size(self, size: int) -> bool:
        """Return whether the malware scanner clamd allows a scan of `size` bytes by its limit StreamMaxLength.

        clamd decides before any data are sent.
        """
        return not self._exchange([_command("INSTREAM"), struct.pack("!I", size)], half_closed=True)

    def _exchange(self, pieces: Iterable[bytes], *, half_closed: bool = False) -> str:
        """Send all pieces of a request to the scanner daemon clamd and return the reply.

        With `half_closed`, the end of the data is signalled afterwards, and the reply may be empty.
        """
        with self._connect() as connection:
            whole = False
            with contextlib.suppress(ConnectionError):  # clamd sends its reason before it disconnects
                for piece in pieces:
                    connection.settimeout(self._seconds_left())
                    connection.sendall(piece)
                whole = True
            if half_closed:
                with contextlib.suppress(OSError):  # clamd has already disconnected
                    connection.shutdown(socket.SHUT_WR)
            reply = self._read_reply(connection, required=not half_closed)
        if not whole and not reply.endswith("ERROR"):
            raise ConnectionError("it disconnected before it had received the whole file")
        return reply

    def _connect(self) -> socket.socket:
        try:
            parts = urlsplit(f"//{self._address}")
            host, port = parts.hostname or "", parts.port or CLAMD_PORT
        except ValueError:
            raise OSError("CLAMAV_ADDRESS is not a valid host:port") from None
        return socket.create_connection((host, port), timeout=min(CONNECT_SECONDS, self._seconds_left()))

    def _read_reply(self, connection: socket.socket, *, required: bool) -> str:
        reply = b""
        while not reply.endswith((b"\0", b"\n")):
            connection.settimeout(self._seconds_left())
            read = connection.recv(REPLY_BYTES)
            if not read and not reply and not required:
                return ""
            if not read or len(reply) > REPLY_BYTES:
                raise ConnectionError("it disconnected, or its reply is too long")
            reply += read
        return reply.decode("ascii", "replace").strip("\0\r\n ")

    def _seconds_left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


def _command(name: str) -> bytes:
    return b"z" + name.encode() + b"\0"


def _stream(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """Yield the command INSTREAM for the malware scanner clamd, with the file in pieces, each after its length."""
    yield _command("INSTREAM")
    for piece in pieces:
        if piece:
            yield struct.pack("!I", len(piece)) + piece
    yield struct.pack("!I", 0)
