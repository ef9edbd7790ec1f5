"""The Bluesky adapter: connects accounts by app password and publishes posts as AT Protocol records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from django.utils.translation import gettext_noop

from accounts.platforms.base import START, Platform
from accounts.platforms.bluesky import embeds, feed_post, people, session
from accounts.platforms.bluesky.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA, SETUP
from accounts.platforms.bluesky.richtext import first_link
from accounts.platforms.bluesky.video import VideoService
from accounts.platforms.bluesky.xrpc import ERRORS, TOKEN_ERRORS, Xrpc, XrpcError
from accounts.platforms.errors import CredentialsRejected, OutcomeUnknown, PlatformError, ReauthRequired, TokenExpired
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.link_cards import OPTION_NAME as LINK_CARD
from accounts.platforms.people import Person
from accounts.platforms.post_look import PostLook
from accounts.platforms.thread_option import raise_if_platform_would_refuse_thread, thread_texts_including_first
from accounts.platforms.types import AuthorizedAccount, Content, Grant, Identity, Progress, Published
from config.outbound import NotSentToForbiddenHost, OutboundError

MAX_UPLOAD_ROUNDS = 3  # how often a post's files are uploaded again
VIDEO_SERVICE_ATTEMPTS = 3
USE_APP_PASSWORD = gettext_noop("Make an app password in Bluesky's settings and connect with that.")


class Bluesky(Platform):
    """The adapter that connects Bluesky accounts and publishes to them.

    Publishing goes `start`, `upload` for each file, `process` until a video is processed, `card` and `picture` for a link
    card, then `freeze` and `put`. A post without files and links goes from `start` to `put`; a thread repeats `freeze` and
    `put` for each segment. `freeze` fixes the record and its key, so `put` may be repeated.
    Its state is {blobs} while files are uploaded, and what VideoService adds; {card, picture} or {note} for a link; then
    also {rkey, record}. The segments are the {uri, cid} of the published posts.
    `rounds` counts how often the server has lost files, which are then uploaded again: a video directly to the server,
    since the video service would only name the lost blob. The same is done after VIDEO_SERVICE_ATTEMPTS failed attempts;
    such a video plays only some seconds after publication.
    A grant's tokens are {access, refresh, pds}; `pds` is the address of the account's own server.
    """

    name = "bluesky"
    label = "Bluesky"
    icon = "bluesky"
    colour = "#1185fe"
    look = PostLook(card_option=LINK_CARD)
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"put"})
    clock: ClassVar[feed_post.TidClock] = feed_post.TidClock()

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Adapter method that connects a Bluesky account by its app password. Raises CredentialsRejected, Transient."""
        service = self._service(credentials)
        identifier = credentials["identifier"].strip().removeprefix("@")
        try:
            opened = session.sign_in(service, identifier, credentials["app_password"])
            if opened.opened_by_main_password:
                with suppress(OutboundError, XrpcError):  # a session that is not ended expires
                    session.end_session(service, opened.refresh)
                raise CredentialsRejected(
                    gettext_noop(
                        "This is the account's own password. The service accepts only app passwords, which can be revoked "
                        "one by one and cannot change the account."
                    ),
                    suggested_action=USE_APP_PASSWORD,
                )
            if not opened.active:
                raise CredentialsRejected(gettext_noop("The account is deactivated or suspended at Bluesky."))
            identity = session.fetch_identity(Xrpc(opened.pds, opened.access), opened.did, opened.handle)
        except NotSentToForbiddenHost as error:
            raise CredentialsRejected(f"The service does not connect to the account's server: {error}") from error
        except UnreadableAnswer as error:
            raise CredentialsRejected(gettext_noop("The server at this address is not an AT Protocol server.")) from error
        except OutboundError as error:
            raise ERRORS.translate_repeatable_call_error(error) from error
        except XrpcError as error:
            raise _refused_sign_in(error) from error
        grant = Grant(credentials=dict(credentials), tokens=opened.tokens_to_store(), external_id=opened.did)
        return AuthorizedAccount(identity=identity, grant=grant)

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that asks Bluesky who is signed in. Raises TokenExpired, ReauthRequired, Transient."""
        server = _server(grant)
        with ERRORS.translating_repeatable_call_errors():
            try:
                answer = server.query("com.atproto.server.getSession")
            except XrpcError as error:
                # The reference server answers this for an account that was taken down.
                if error.status == 400 and error.code == "InvalidRequest":
                    raise ReauthRequired(gettext_noop("Bluesky no longer knows the account.")) from error
                raise
            if answer.get("active") is False:
                raise ReauthRequired("The account is deactivated or suspended at Bluesky.")
            return session.fetch_identity(server, *session.did_and_handle_or_did_twice(answer))

    def refresh_grant(self, grant: Grant) -> Grant:
        """Adapter method that renews a Bluesky session by its refresh token or, if that is refused, by the app password.

        Raises ReauthRequired, Transient.
        """
        service = self._service(grant.credentials)
        with ERRORS.translating_repeatable_call_errors():
            try:
                renewed = session.renew_session(service, grant.tokens["refresh"], pds=grant.tokens["pds"])
            except XrpcError as error:
                if error.code not in TOKEN_ERRORS:
                    raise
                # By DID, because the handle may have changed since the account was connected.
                renewed = session.sign_in(service, grant.external_id, grant.credentials["app_password"])
        if renewed.did != grant.external_id:
            raise ReauthRequired(gettext_noop("The credentials open another account than the one that was connected."))
        return Grant(credentials=grant.credentials, tokens=renewed.tokens_to_store(), external_id=grant.external_id)

    def revoke_grant(self, grant: Grant) -> None:
        """Adapter method that ends a Bluesky login session at the server, so that its tokens stop working. Raises Transient.

        A session that has already ended is no error.
        """
        with suppress(TokenExpired, ReauthRequired), ERRORS.translating_repeatable_call_errors():
            session.end_session(self._service(grant.credentials), grant.tokens["refresh"])

    def link_card_url(self, text: str, options: Mapping[str, Any], *, with_media: bool) -> str | None:
        """Adapter method that returns the URL which a Bluesky post's link card leads to; None if the post gets no card."""
        wanted = options.get(LINK_CARD, "auto")
        if with_media:
            return None
        if isinstance(wanted, dict) and isinstance(wanted.get("url"), str):
            return str(wanted["url"])
        return first_link(text) if wanted == "auto" else None

    def initial_progress(self, grant: Grant, content: Content) -> Progress:
        """Adapter method that returns a Bluesky post's first publishing step: `put` for plain text, otherwise START.

        A plain text has no link card and no mention. The step contains its record.
        """
        if content.media or self.link_card_url(content.text, content.options, with_media=False) or "@" in content.text:
            return START
        raise_if_platform_would_refuse_thread(content, CAPABILITIES, "Bluesky")
        return self._freeze(grant, content, START)

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step of publishing at Bluesky, such as an upload or the creation of a record."""
        if progress.phase == "put":
            return self._put(grant, content, progress)
        if progress.phase == "upload":
            return self._upload_next(grant, content, progress)
        if progress.phase == "process":
            return self._video_service(grant).check_processing(progress)
        if progress.phase == "card":
            link = self.link_card_url(content.text, content.options, with_media=False) or ""
            return embeds.fill_link_card_from_page(link, content, progress)
        if progress.phase == "picture":
            return embeds.upload_card_picture_and_return_next_step(_server(grant), progress)
        if progress.phase == "start":
            raise_if_platform_would_refuse_thread(content, CAPABILITIES, "Bluesky")
            if content.media:
                embeds.check_files_fit_one_embed(content.media)
                return progress.with_next_step("upload", {"blobs": []})
            if self.link_card_url(content.text, content.options, with_media=False):
                return progress.with_next_step("card", {})
        return self._freeze(grant, content, progress)

    def find_people(self, grant: Grant, text: str) -> list[Person]:
        """Adapter method that finds Bluesky accounts to mention. Raises TokenExpired, ReauthRequired, Transient."""
        with ERRORS.translating_repeatable_call_errors():
            return people.find_people(_server(grant), text)

    def _upload_next(self, grant: Grant, content: Content, progress: Progress) -> Progress:
        state = progress.state
        file = content.media[len(state["blobs"])]
        if file.kind == "video" and not state.get("rounds") and content.attempt <= VIDEO_SERVICE_ATTEMPTS:
            return self._video_service(grant).upload_video_and_return_next_step(file, content.key, progress)
        uploaded = [*state["blobs"], embeds.upload_blob(_server(grant), file)]
        phase = "upload" if len(uploaded) < len(content.media) else "freeze"
        return progress.with_next_step(phase, {**state, "blobs": uploaded})

    def _freeze(self, grant: Grant, content: Content, progress: Progress) -> Progress:
        """Adapter method that builds the next record of a Bluesky thread, and returns the publishing step that sends it.

        A segment whose files were lost has the same key and time as before.
        """
        sent, state = progress.segments, progress.state
        others = {name: value for name, value in state.items() if name != "blobs"}
        embed = None if sent else embeds.embed_of_first_post(content, state)
        if "record" in state:
            return progress.with_next_step("put", {**others, "record": {**state["record"], "embed": embed}})
        with ERRORS.translating_repeatable_call_errors():
            text = thread_texts_including_first(content)[len(sent)]
            record = feed_post.resolve_handles_and_build_record(
                _server(grant), text, content.options, embed=embed, thread=sent
            )
        return progress.with_next_step("put", {**others, "rkey": self.clock.next(), "record": record})

    def _put(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        state = progress.state
        try:
            ref = feed_post.create_record_once(_server(grant), grant.external_id, state["rkey"], state["record"])
        except feed_post.BlobsGone as gone:
            rounds = state.get("rounds", 0) + 1
            if rounds > MAX_UPLOAD_ROUNDS or not (content.media or "picture" in state):
                raise gone.error from gone
            if content.media:
                return progress.with_next_step("upload", {**state, "blobs": [], "rounds": rounds})
            return progress.with_next_step("picture", {**state, "rounds": rounds})
        sent, note = (*progress.segments, ref), state.get("note", "")
        if len(sent) >= len(thread_texts_including_first(content)):
            return Published(sent[0]["uri"], feed_post.permalink(sent[0]), note=note)
        if not ref["cid"]:  # the next segment refers to this cid
            raise OutcomeUnknown(
                gettext_noop("The account's Bluesky server published the post, but did not name its content id.")
            )
        return replace(progress, segments=sent).with_next_step("freeze", {"note": note} if note else {})

    def _video_service(self, grant: Grant) -> VideoService:
        address = self.platform_setting("VIDEO_API_BASE", "https://video.bsky.app").rstrip("/")
        return VideoService(address, _server(grant), grant.external_id)

    def _service(self, credentials: Mapping[str, Any]) -> str:
        address: str = credentials.get("service") or self.platform_setting("API_BASE", "https://bsky.social")
        return address.rstrip("/")


def _server(grant: Grant) -> Xrpc:
    return Xrpc(grant.tokens["pds"], grant.tokens["access"])


def _refused_sign_in(error: XrpcError) -> PlatformError:
    if error.status == 429 or error.status >= 500:
        return ERRORS.translate_repeatable_call_error(error)
    if error.code == "AuthFactorTokenRequired":
        return CredentialsRejected(
            gettext_noop("Bluesky asks for a second factor, which it does for the account's own password only."),
            suggested_action=USE_APP_PASSWORD,
        )
    if error.status == 401:
        return CredentialsRejected(gettext_noop("Bluesky does not accept this identifier with this app password."))
    return CredentialsRejected(f"The address does not accept a sign-in: {error.status} {error.reason}")
