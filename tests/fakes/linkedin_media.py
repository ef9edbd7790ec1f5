"""LinkedIn's uploads: announced, put to the addresses that were given, a video finalized, and processed.

Source: learn.microsoft.com/linkedin (Images, Videos and Documents APIs: initializeUpload, parts of 4 MB with an ETag each,
finalizeUpload, statuses). Apps may read uploads of pages, but not those of members, as clients report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.linkedin_store import LinkedInStore, Member, Refusal, Upload

PART_BYTES = 4 * 1024 * 1024
BEGINNINGS = {
    "images": (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8"),
    "videos": (b"\x00\x00\x00",),
    "documents": (b"%PDF-",),
}
TYPES = {"images": "image", "videos": "video", "documents": "document"}


class LinkedInMedia:
    """The uploads of a LinkedIn store. `processing`: checks until a file is ready, and LinkedIn's reason if it fails."""

    def __init__(self, store: LinkedInStore, site: str, may_act_for: Callable[[Member, Any], None]) -> None:
        self._store, self._site, self._may_act_for = store, site, may_act_for
        self._addresses: dict[str, tuple[Upload, int, int | None]] = {}
        self.processing: tuple[int, str] = (0, "")
        self.part_bytes = PART_BYTES

    def initialize(self, member: Member, request: ReceivedRequest) -> Answer:
        """Announce an upload to LinkedIn."""
        collection = request.path.split("/")[2]
        given = request.json().get("initializeUploadRequest", {})
        video = {"fileSizeBytes", "uploadCaptions", "uploadThumbnail"} if collection == "videos" else set()
        if set(given) != {"owner", *video}:
            raise Refusal(400, "The upload's fields are not those of this kind.", "ILLEGAL_ARGUMENT")
        self._may_act_for(member, given["owner"])
        urn = f"urn:li:{TYPES[collection]}:D4E22{self._store.new_number()}"
        upload = Upload(urn, given["owner"], collection, given.get("fileSizeBytes"))
        self._store.uploads[urn] = upload
        if collection != "videos":
            return Answer.of_json({"value": {"uploadUrl": self._address(upload, 0, None), TYPES[collection]: urn}})
        upload.token = f"token-of-{urn}"
        size = int(given["fileSizeBytes"])
        parts = [(first, min(first + self.part_bytes, size) - 1) for first in range(0, size, self.part_bytes)]
        instructions = [
            {"uploadUrl": self._address(upload, *part), "firstByte": part[0], "lastByte": part[1]} for part in parts
        ]
        return Answer.of_json({"value": {"video": urn, "uploadToken": upload.token, "uploadInstructions": instructions}})

    def put(self, member: Member, request: ReceivedRequest) -> Answer:
        """Receive an uploaded file, or a part of one; a repeated upload replaces the first."""
        address = self._addresses.get(request.path.rpartition("/")[2])
        if address is None:
            raise Refusal(404, "The upload address is not known.")
        upload, first, last = address
        if last is not None and len(request.body) != last - first + 1:
            raise Refusal(400, "The part has not the bytes that were announced.")
        upload.parts[first] = request.body
        if upload.collection != "videos":
            self._take(upload)
        return Answer(201 if upload.collection != "videos" else 200, b"", {"ETag": _etag(upload, first)})

    def finalize(self, member: Member, request: ReceivedRequest) -> Answer:
        """Complete a video whose parts are named in their order."""
        given = request.json().get("finalizeUploadRequest", {})
        upload = self._store.uploads.get(given.get("video", ""))
        if upload is None or set(given) != {"video", "uploadToken", "uploadedPartIds"}:
            raise Refusal(400, "The video is not known.", "ILLEGAL_ARGUMENT")
        self._may_act_for(member, upload.owner)
        expected = [_etag(upload, first) for first in sorted(upload.parts)]
        if given["uploadToken"] != upload.token or given["uploadedPartIds"] != expected:
            raise Refusal(400, "The parts are not those that were uploaded.", "ILLEGAL_ARGUMENT")
        if len(upload.content) != upload.size:
            raise Refusal(400, "Parts of the video are missing.", "ILLEGAL_ARGUMENT")
        self._take(upload)
        return Answer(200)

    def status(self, member: Member, request: ReceivedRequest) -> Answer:
        """Report the status of an upload; each check advances its processing."""
        upload = self._store.uploads.get(unquote(request.path.rpartition("/")[2]))
        if upload is None:
            raise Refusal(404, "Could not find entity", "RESOURCE_NOT_FOUND")
        if not upload.owner.startswith("urn:li:organization:"):
            raise Refusal(403, "Not enough permissions to access: partnerApiImages.GET", "ACCESS_DENIED")
        status = upload.status
        upload.checks_left = max(upload.checks_left - 1, 0)
        failure = {"processingFailureReason": upload.failure} if status == "PROCESSING_FAILED" else {}
        return Answer.of_json({"id": upload.urn, "owner": upload.owner, "status": status, **failure})

    def _take(self, upload: Upload) -> None:
        upload.whole = True
        upload.checks_left, upload.failure = self.processing
        if not upload.content.startswith(BEGINNINGS[upload.collection]):
            upload.failure = upload.failure or "The file is not of a supported type"

    def _address(self, upload: Upload, first: int, last: int | None) -> str:
        name = hashlib.sha256(f"{upload.urn} {first}".encode()).hexdigest()
        self._addresses[name] = (upload, first, last)
        return f"{self._site}/dms-uploads/{name}"


def _etag(upload: Upload, first: int) -> str:
    return f"/ambry-video/signedId/{hashlib.sha256(upload.parts[first]).hexdigest()}"
