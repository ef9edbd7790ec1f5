"""A stand-in of YouTube's Data API v3 and of Google's consent and tokens, for one application that people connect.

Written from developers.google.com/youtube/v3 and Google's identity documentation; `youtube_oauth` and `youtube_uploads`
name the pages.

    with FakeYouTube() as youtube:
        youtube.add_channel("alice")
        code = youtube.grant(authorization_url, "alice")
        youtube.drop_next(LAST)
        ...
        assert [video["title"] for video in youtube.videos("alice")] == ["Hello"]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.youtube_oauth import GoogleOAuth
from tests.fakes.youtube_uploads import GoogleError, Uploads

TOKEN, REVOKE = "POST /token", "POST /revoke"
CHANNELS, VIDEOS = "GET /youtube/v3/channels", "GET /youtube/v3/videos"
OPEN, THUMBNAIL = "POST /upload/youtube/v3/videos", "POST /upload/youtube/v3/thumbnails/set"
ASK, PIECE, LAST = "how far an upload is", "a piece of an upload", "the last piece of an upload"

UPLOAD_SCOPE, READ_SCOPE = (f"https://www.googleapis.com/auth/youtube.{name}" for name in ("upload", "readonly"))
SCOPES = {CHANNELS: READ_SCOPE, VIDEOS: READ_SCOPE, **dict.fromkeys((OPEN, THUMBNAIL, ASK, PIECE, LAST), UPLOAD_SCOPE)}


class FakeYouTube(FaultyServer):
    """YouTube's stand-in: a server on which tests add channels, consents and faults and read the uploaded videos."""

    platform = "youtube"
    calls = frozenset({TOKEN, REVOKE, *SCOPES})

    def __init__(self) -> None:
        super().__init__()
        self._oauth, self._uploads = GoogleOAuth(self.url), Uploads(self.url)
        self._channels: dict[str, list[str]] = {}
        self._quota_error: GoogleError | None = None

    # what a test arranges

    def add_channel(self, person: str) -> str:
        """Add a channel of a person; returns its id."""
        channels = self._channels.setdefault(person, [])
        channels.append(f"UC{person}{len(channels)}")
        return channels[-1]

    def register_redirect(self, uri: str) -> None:
        """Set an authorized redirect URI of the client."""
        self._oauth.redirect_uris.add(uri)

    def grant(self, authorization_url: str, person: str, scopes: Iterable[str] | None = None) -> str:
        """Consent as the person to the requested scopes, or to these only; returns the code. Raises ValueError."""
        with self._lock:
            return self._oauth.grant(authorization_url, person, scopes)

    def withdraw(self, person: str) -> None:
        """Revoke the application's access as the person."""
        with self._lock:
            self._oauth.withdraw(person)

    def process_videos(self, checks: int, **becomes: str) -> None:
        """Let further videos have this status after so many status checks."""
        self._uploads.processing = (checks, becomes or {"uploadStatus": "processed"})

    def cut_next_piece(self, call: str, arrived: int) -> None:
        """Let only so many bytes of the next piece arrive, and drop the response."""
        self._uploads.cut_at = arrived
        self.drop_next(call)

    def forget_sessions(self) -> None:
        """Delete all upload sessions."""
        with self._lock:
            self._uploads.sessions.clear()

    def refuse_thumbnails(self) -> None:
        """Refuse thumbnails, as for channels that are not verified."""
        self._uploads.verified = False

    def withdraw_audit(self) -> None:
        """Let further videos stay private, as for an application that is not audited."""
        self._uploads.audited = False

    def use_up_quota(self) -> None:
        """Use up the application's quota of the day."""
        message = "The request cannot be completed because you have exceeded your quota."
        self._quota_error = GoogleError(403, "quotaExceeded", message, "youtube.quota")

    def reset_quota(self) -> None:
        """Reset the daily quota."""
        self._quota_error = None

    # what a test reads

    def refresh_tokens(self, person: str) -> list[str]:
        """The person's valid refresh tokens."""
        with self._lock:
            return [token for token, (owner, _) in self._oauth.refresh.items() if owner == person]

    def videos(self, person: str) -> list[dict[str, Any]]:
        """The videos on the person's channels: their metadata, bytes and thumbnails."""
        with self._lock:
            return [
                {
                    "id": video.id,
                    **video.resource["snippet"],
                    "status": video.resource["status"],
                    "content": video.content,
                    "thumbnail": video.thumbnail,
                }
                for video in self._uploads.videos.values()
                if video.channel in self._channels[person]
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        if request.method != "PUT":
            return f"{request.method} {request.path}"
        span, _, total = request.headers.get("content-range", "").removeprefix("bytes ").partition("/")
        if span == "*":
            return ASK
        return LAST if span.endswith(f"-{int(total) - 1}") else PIECE

    def server_error(self, status: int) -> Answer:
        return GoogleError(status, "backendError", "Backend Error", "global").answer()

    def perform(self, request: ReceivedRequest) -> Answer:
        call = self.call_of(request)
        if call == TOKEN:
            return self._oauth.token(request)
        if call == REVOKE:
            return self._oauth.revoke(request)
        try:
            return self._answer(call, request)
        except GoogleError as error:
            return error.answer()

    def _answer(self, call: str, request: ReceivedRequest) -> Answer:
        if call not in SCOPES:
            raise GoogleError(404, "notFound", "Not Found", "global")
        access = self._oauth.access_of(request)
        if access is None:
            raise GoogleError(401, "authError", "Invalid Credentials", "global")
        if SCOPES[call] not in access.scopes:
            raise GoogleError(403, "insufficientPermissions", "Insufficient Permission", "global")
        if self._quota_error and call in (OPEN, CHANNELS, VIDEOS, THUMBNAIL):
            raise self._quota_error
        channels = self._channels[access.person]
        if call == CHANNELS:
            return _channel_list(channels)
        if not channels:
            raise GoogleError(401, "youtubeSignupRequired", "Unauthorized", "youtube.header")
        if call in (ASK, PIECE, LAST):
            return self._uploads.put(request)
        methods = {OPEN: self._uploads.open, VIDEOS: self._uploads.list, THUMBNAIL: self._uploads.set_thumbnail}
        return methods[call](channels[0], request)


def _channel_list(channels: list[str]) -> Answer:
    items = [
        {
            "kind": "youtube#channel",
            "id": each,
            "snippet": {
                "title": each.removeprefix("UC").title(),
                "customUrl": f"@{each.removeprefix('UC')}",
                "thumbnails": {"default": {"url": f"https://yt3.ggpht.com/{each}=s88"}},
            },
        }
        for each in channels
    ]
    # An empty list has no `items`.
    return Answer.of_json({"kind": "youtube#channelListResponse", **({"items": items} if items else {})})
