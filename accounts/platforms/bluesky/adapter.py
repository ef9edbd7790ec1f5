"""Bluesky: connection by app password, posts as records under keys that we choose."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from accounts.platforms.base import Platform
from accounts.platforms.bluesky import blobs, cards, feed_post, session
from accounts.platforms.bluesky.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA
from accounts.platforms.bluesky.setup import SETUP
from accounts.platforms.bluesky.tid import TidClock
from accounts.platforms.bluesky.video import VideoService
from accounts.platforms.bluesky.xrpc import (
    TOKEN_ERRORS,
    UnreadableAnswer,
    XrpcError,
    platform_error,
    platform_errors,
    query,
)
from accounts.platforms.chains import check, segments
from accounts.platforms.errors import (
    AccountDisconnected,
    CredentialsRejected,
    OutcomeUnknown,
    PlatformError,
    TokenExpired,
)
from accounts.platforms.types import Connection, Content, Grant, Identity, Progress, Published
from config.outbound import DestinationRefused, OutboundError

MAX_ROUNDS = 3  # of uploading a post's files again
PATIENCE = 3  # attempts with the video service
USE_APP_PASSWORD = "Make an app password in Bluesky's settings and connect with that."  # noqa: S105


class Bluesky(Platform):
    """Publishing in steps: files are uploaded, the record and its key are frozen, and `put` may then be repeated.

    The phases are start, upload (one for each file), process (of a video, as often as it takes), card and picture (of a
    link), freeze and put. A post without files and links goes from start to put; a thread goes on from each put to the
    next segment's freeze.
    State is {blobs} while files are uploaded, and what VideoService adds; {card, picture} or {note} of a link; and from
    then on also {rkey, record, sent}: `sent` are the {uri, cid} of the segments that are out.
    `rounds` counts how often the server lost files, which are then uploaded again: a video straight to the server, since
    the video service would only name the blob that was lost. It goes there as well when the video service has failed at
    PATIENCE attempts: the video then plays some seconds after the post is out.
    A grant's tokens are {access, refresh, pds}; `pds` is the address of the account's own server.
    """

    name = "bluesky"
    label = "Bluesky"
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"put"})
    clock: ClassVar[TidClock] = TidClock()

    def unavailable_reason(self, method: str) -> str | None:
        """None: Bluesky needs no set-up by the operator."""
        return None

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Sign in with the app password. Raises CredentialsRejected, Transient."""
        service = self._service(credentials)
        identifier = credentials["identifier"].strip().removeprefix("@")
        try:
            opened = session.sign_in(service, identifier, credentials["app_password"])
            if opened.opened_by_main_password:
                _end_quietly(service, opened)
                raise CredentialsRejected(
                    "This is the account's own password. The service takes only app passwords, which can be revoked one "
                    "by one and cannot change the account.",
                    suggested_action=USE_APP_PASSWORD,
                )
            if not opened.active:
                raise CredentialsRejected("The account is deactivated or suspended at Bluesky.")
            identity = session.identity(opened.pds, opened.access, opened.did, opened.handle)
        except DestinationRefused as error:
            raise CredentialsRejected(f"The service does not connect to the account's server: {error}") from error
        except UnreadableAnswer as error:
            raise CredentialsRejected("What answers at this address is not an AT Protocol server.") from error
        except OutboundError as error:
            raise platform_error(error) from error
        except XrpcError as error:
            raise _refused_sign_in(error) from error
        grant = Grant(credentials=dict(credentials), tokens=opened.tokens(), external_id=opened.did)
        return Connection(identity=identity, grant=grant)

    def identify(self, grant: Grant) -> Identity:
        """Ask the account's server whose session it is. Raises TokenExpired, AccountDisconnected, Transient."""
        pds, access = grant.tokens["pds"], grant.tokens["access"]
        with platform_errors():
            try:
                answer = query(pds, "com.atproto.server.getSession", token=access)
            except XrpcError as error:
                # How the reference server speaks of an account that is taken down.
                if error.status == 400 and error.name == "InvalidRequest":
                    raise AccountDisconnected("Bluesky no longer knows the account.") from error
                raise
            if answer.get("active") is False:
                raise AccountDisconnected("The account is deactivated or suspended at Bluesky.")
            return session.identity(pds, access, *session.whose(answer))

    def refresh(self, grant: Grant) -> Grant:
        """New tokens, by the refresh token or else by the app password. Raises AccountDisconnected, Transient."""
        with platform_errors():
            renewed = self._renewed(grant)
        if renewed.did != grant.external_id:
            raise AccountDisconnected("The credentials open another account than the one that was connected.")
        return Grant(credentials=grant.credentials, tokens=renewed.tokens(), external_id=grant.external_id)

    def revoke(self, grant: Grant) -> None:
        """End the session. One that has ended already is well; other faults are Transient."""
        try:
            with platform_errors():
                session.end(self._service(grant.credentials), grant.tokens["refresh"])
        except (TokenExpired, AccountDisconnected):
            return

    def card_link(self, text: str, options: Mapping[str, Any], *, with_media: bool) -> str | None:
        """The page that the post's card leads to."""
        return cards.card_link(text, options, with_media=with_media)

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "put":
            return self._put(grant, content, progress.state)
        if progress.phase == "upload":
            return self._upload_next(grant, content, progress.state)
        if progress.phase == "process":
            return self._video_service(grant).process(progress.state)
        if progress.phase == "card":
            return cards.read(content)
        if progress.phase == "picture":
            return cards.add_picture(grant.tokens["pds"], grant.tokens["access"], progress.state)
        if progress.phase == "start":
            check(content, CAPABILITIES, "Bluesky")
            if content.media:
                blobs.check(content.media)
                return Progress("upload", {"blobs": []})
            if self.card_link(content.text, content.options, with_media=False):
                return Progress("card")
        return self._freeze(grant, content, progress.state)

    def _upload_next(self, grant: Grant, content: Content, state: Mapping[str, Any]) -> Progress:
        file = content.media[len(state["blobs"])]
        if file.kind == "video" and not state.get("rounds") and content.attempt <= PATIENCE:
            return self._video_service(grant).send(file, content.key, state)
        kept = [*state["blobs"], blobs.keep(grant.tokens["pds"], grant.tokens["access"], file)]
        return Progress("upload" if len(kept) < len(content.media) else "freeze", {**state, "blobs": kept})

    def _freeze(self, grant: Grant, content: Content, state: Mapping[str, Any]) -> Progress:
        """Fix the next segment's record and its key; one that was fixed before its files were lost keeps its key and its
        moment."""
        sent = state.get("sent", [])
        kept = {name: value for name, value in state.items() if name != "blobs"}
        embed = None if sent else _embed(content, state)
        if "record" in state:
            return Progress("put", {**kept, "record": {**state["record"], "embed": embed}})
        text, pds = segments(content)[len(sent)], grant.tokens["pds"]
        with platform_errors():
            record = feed_post.build(text, content.options, pds, embed=embed, thread=sent)
        return Progress("put", {**kept, "rkey": self.clock.next(), "record": record, "sent": sent})

    def _put(self, grant: Grant, content: Content, state: Mapping[str, Any]) -> Progress | Published:
        try:
            ref = feed_post.put(
                pds=grant.tokens["pds"],
                access_token=grant.tokens["access"],
                did=grant.external_id,
                rkey=state["rkey"],
                record=state["record"],
            )
        except feed_post.BlobsGone as gone:
            rounds = state.get("rounds", 0) + 1
            if rounds > MAX_ROUNDS or not (content.media or "picture" in state):
                raise gone.fault from gone
            if content.media:
                return Progress("upload", {**state, "blobs": [], "rounds": rounds})
            return Progress("picture", {**state, "rounds": rounds})
        sent, note = [*state.get("sent", []), ref], state.get("note", "")
        if len(sent) >= len(segments(content)):
            return Published(sent[0]["uri"], feed_post.permalink(sent[0]), note=note)
        if not ref["cid"]:  # which the next one has to name
            raise OutcomeUnknown("The account's Bluesky server took the post, but did not say what it made of it.")
        return Progress("freeze", {"sent": sent, **({"note": note} if note else {})})

    def _renewed(self, grant: Grant) -> session.Session:
        service = self._service(grant.credentials)
        try:
            return session.renew(service, grant.tokens["refresh"], pds=grant.tokens["pds"])
        except XrpcError as error:
            if error.name not in TOKEN_ERRORS:
                raise
        # By DID: the handle may have changed since the account was connected.
        return session.sign_in(service, grant.external_id, grant.credentials["app_password"])

    def _video_service(self, grant: Grant) -> VideoService:
        address = self.setting("VIDEO_API_BASE", "https://video.bsky.app").rstrip("/")
        return VideoService(address, grant.tokens["pds"], grant.tokens["access"], grant.external_id)

    def _service(self, credentials: Mapping[str, Any]) -> str:
        address: str = credentials.get("service") or self.setting("API_BASE", "https://bsky.social")
        return address.rstrip("/")


def _embed(content: Content, state: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the first record shows below its text: a post has one embed."""
    if content.media:
        return blobs.embed(content.media, state["blobs"])
    return cards.embed(state["card"]) if "card" in state else None


def _end_quietly(service: str, opened: session.Session) -> None:
    """End a session that is not used; one that cannot be ended expires by itself."""
    with suppress(OutboundError, XrpcError):
        session.end(service, opened.refresh)


def _refused_sign_in(error: XrpcError) -> PlatformError:
    if error.status == 429 or error.status >= 500:
        return platform_error(error)
    if error.name == "AuthFactorTokenRequired":
        return CredentialsRejected(
            "Bluesky asks for a second factor, which it does for the account's own password only.",
            suggested_action=USE_APP_PASSWORD,
        )
    if error.status == 401:
        return CredentialsRejected("Bluesky does not accept this identifier with this app password.")
    return CredentialsRejected(f"The address takes no sign-in: {error.status} {error.message or error.name}".strip())
