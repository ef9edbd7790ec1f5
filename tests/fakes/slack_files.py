"""The files of the Slack stand-in: announced, uploaded to an address, shared once, and described.

Written from docs.slack.dev: files.getUploadURLExternal, files.completeUploadExternal, files.info. Slack does not document
what files.info says of an upload that was not completed; here it is not found, since such uploads are discarded.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.slack_oauth import Refused

UPLOADS = "/upload/v1/"


@dataclass
class UploadedFile:
    """A file at Slack; `channel` and `ts`: where it was shared; `checks_left`: how many checks do not show that yet."""

    id: str
    name: str
    length: int
    alt_text: str
    address: str
    content: bytes | None = None
    channel: str = ""
    is_private: bool = False
    ts: str = ""
    checks_left: int = 0
    deleted: bool = False


class SlackFiles:
    """The files of a Slack workspace. `sharing`: how many checks do not show a file's shares yet."""

    def __init__(self, site: str, new_number: Callable[[], int]) -> None:
        self._site, self._new_number = site, new_number
        self.files: dict[str, UploadedFile] = {}
        self.largest = 1_000_000_000
        self.disabled = False
        self.sharing = 0

    def announce(self, given: dict[str, Any]) -> dict[str, Any]:
        """Announce a file to Slack; returns the address for its bytes."""
        if self.disabled:
            raise Refused("file_uploads_disabled")
        if not given.get("filename") or not str(given.get("length", "")).isdecimal() or given["length"] == "0":
            raise Refused("missing_argument")
        if int(given["length"]) > self.largest:
            raise Refused("file_upload_size_restricted")
        if len(given.get("alt_txt", "")) > 1000:
            raise Refused("alt_txt_too_large")
        if set(given) - {"filename", "length", "alt_txt"}:
            raise Refused("invalid_arguments")
        path = f"{UPLOADS}{secrets.token_hex(12)}"
        file = UploadedFile(
            f"F{self._new_number():010d}", given["filename"], int(given["length"]), given.get("alt_txt", ""), path
        )
        self.files[file.id] = file
        return {"upload_url": f"{self._site}{path}", "file_id": file.id}

    def upload(self, request: ReceivedRequest) -> Answer:
        """Receive the bytes of a file at the address that Slack issued for it."""
        file = next((each for each in self.files.values() if each.address == request.path), None)
        if file is None or request.method != "POST" or "authorization" in request.headers:
            return Answer(404, b"no such upload")
        if len(request.body) != file.length:
            return Answer(400, b"not the announced length")
        file.content = request.body
        return Answer(200, f"OK - {file.length}".encode())

    def uploaded(self, given: Any) -> list[UploadedFile]:
        """The uploads that a call shares in a Slack channel; each can be shared once. Raises Refused."""
        wanted = json.loads(given) if isinstance(given, str) else given
        files = [self.files.get(each["id"]) for each in wanted or ()]
        if not files:
            raise Refused("invalid_arguments")
        ready = [each for each in files if each is not None and each.content is not None and not each.ts]
        if len(ready) < len(files):
            raise Refused("file_not_found")
        return ready

    def share(self, files: list[UploadedFile], channel: str, ts: str, *, private: bool) -> None:
        """Store the channel and timestamp at which files were shared."""
        for file in files:
            file.channel, file.ts, file.is_private, file.checks_left = channel, ts, private, self.sharing

    def discard(self) -> None:
        """Discard the uploads that were not shared."""
        self.files = {file_id: file for file_id, file in self.files.items() if file.ts}

    def info(self, given: dict[str, Any]) -> dict[str, Any]:
        """A shared Slack file, as people see it."""
        file = self.files.get(str(given.get("file")))
        if file is None or not file.ts:
            raise Refused("file_not_found")
        if file.deleted:
            raise Refused("file_deleted")
        shares: dict[str, Any] = {}
        if file.checks_left <= 0:
            shares = {"private" if file.is_private else "public": {file.channel: [{"ts": file.ts, "reply_count": 0}]}}
        file.checks_left -= 1
        details = {"id": file.id, "name": file.name, "title": file.name, "mode": "hosted", "size": file.length}
        return {"file": {**details, "alt_txt": file.alt_text, "shares": shares}, "comments": []}
