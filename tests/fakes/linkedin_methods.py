"""The calls of LinkedIn's REST API about accounts, posts and comments, with its versions, permissions and refusals.

Source: learn.microsoft.com/linkedin (versioning, Profile API, Organization Access Control, Organization Lookup, Posts API,
Comments API). As clients report: the body of a refused repetition, and that the development tier has no BATCH_GET.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.linkedin_media import LinkedInMedia
from tests.fakes.linkedin_oauth import LinkedInOAuth
from tests.fakes.linkedin_store import LinkedInStore, Member, Refusal, Upload, read_commentary

TOKEN = "POST /oauth/v2/accessToken"
USERINFO, ME = "GET /v2/userinfo", "GET /v2/me"
ACLS = "GET /rest/organizationAcls"
ORGANIZATIONS, ORGANIZATION = "GET /rest/organizations", "GET /rest/organizations/:number"
CREATE, COMMENT = "POST /rest/posts", "POST /rest/socialActions/:urn/comments"
PUT = "PUT /dms-uploads/:token"
INITIALIZE = {name: f"POST /rest/{name}?initializeUpload" for name in ("images", "videos", "documents")}
STATUS = {name: f"GET /rest/{name}/:urn" for name in ("images", "videos", "documents")}
FINALIZE = "POST /rest/videos?finalizeUpload"

POST_FIELDS = frozenset(
    {*("author", "commentary", "visibility", "distribution", "lifecycleState"), *("isReshareDisabledByAuthor", "content")}
)
DISTRIBUTION = {"feedDistribution": "MAIN_FEED", "targetEntities": [], "thirdPartyDistributionChannels": []}
POSTING_ROLES = frozenset({"ADMINISTRATOR", "DIRECT_SPONSORED_CONTENT_POSTER", "CONTENT_ADMINISTRATOR"})
COMMENTING_ROLES = frozenset({"ADMINISTRATOR", "DIRECT_SPONSORED_CONTENT_POSTER", "RECRUITING_POSTER"})
REPEATED_WITHIN = timedelta(days=1)

_URN = re.compile(r"(?<=/)urn(?::|%3A)[^/]+")
_LIST = re.compile(r"List\((\d+(?:,\d+)*)\)")


class LinkedInMethods:
    """The calls of LinkedIn's REST API on the data of a store."""

    def __init__(self, site: str) -> None:
        self.store = LinkedInStore()
        self.oauth = LinkedInOAuth(site)
        self.media = LinkedInMedia(self.store, site, self.may_act_for)
        self.version = "202610"
        self.endpoints: dict[str, Callable[[Member, ReceivedRequest], Answer]] = {
            USERINFO: self.userinfo,
            ME: self.me,
            ACLS: self.roles,
            ORGANIZATIONS: self.organizations,
            ORGANIZATION: self.organization,
            CREATE: self.create,
            COMMENT: self.comment,
            PUT: self.media.put,
            FINALIZE: self.media.finalize,
            **dict.fromkeys(INITIALIZE.values(), self.media.initialize),
            **dict.fromkeys(STATUS.values(), self.media.status),
        }

    def perform(self, request: ReceivedRequest) -> Answer:
        """Answer a call of LinkedIn's API."""
        call = call_of(request)
        if call not in self.endpoints:
            raise Refusal(404, "No virtual resource found", "RESOURCE_NOT_FOUND")
        access = self.oauth.opened_by(request)
        if access is None:
            raise Refusal(401, "Invalid access token", "INVALID_ACCESS_TOKEN", serviceErrorCode=65600)
        if access.revoked:
            message = "The token used in the request has been revoked by the user"
            raise Refusal(401, message, "REVOKED_ACCESS_TOKEN", serviceErrorCode=65601)
        if datetime.now(UTC) >= access.ends:
            message = "The token used in the request has expired"
            raise Refusal(401, message, "EXPIRED_ACCESS_TOKEN", serviceErrorCode=65602)
        if request.path.startswith("/rest/"):
            self._check_protocol(request)
        member = self.store.members[access.member_id]
        self._application = self.oauth.applications[access.client_id]
        self._scopes, self._person = access.scopes, f"{member.id}{self._application.mark}"
        return self.endpoints[call](member, request)

    def may_act_for(self, member: Member, urn: Any) -> None:
        """Raise Refusal unless the member may write in the name of this account."""
        if not self._may(member, urn, "w_member_social", "w_organization_social", POSTING_ROLES):
            raise _denied("partnerApiPosts.CREATE")

    def _may(self, member: Member, urn: Any, own: str, of_pages: str, roles: frozenset[str]) -> bool:
        """Whether the token has the scope `own` for the member's URN, or `of_pages` and a role for a page's."""
        if urn == f"urn:li:person:{self._person}":
            return own in self._scopes
        role, state = member.roles.get(str(urn).rpartition(":")[2], ("", ""))
        a_page = str(urn).startswith("urn:li:organization:") and of_pages in self._scopes
        return a_page and role in roles and state == "APPROVED"

    def userinfo(self, member: Member, request: ReceivedRequest) -> Answer:
        """The member who logged in, by OpenID Connect."""
        if not {"openid", "profile"} <= set(self._scopes):
            raise _denied("userinfo.GET")
        picture = f"https://media.licdn.com/dms/image/{member.id}"
        details = {"sub": self._person, "name": member.name, "picture": picture, "locale": {"language": "en"}}
        return Answer.of_json(details)

    def me(self, member: Member, request: ReceivedRequest) -> Answer:
        """The member who logged in, with the fields of LinkedIn's lite or basic profile."""
        if not {"r_liteprofile", "r_basicprofile"} & set(self._scopes):
            raise _denied("me.GET.NO_VERSION")
        first, _, last = member.name.partition(" ")
        locale = {"country": "US", "language": "en"}
        details: dict[str, Any] = {
            "id": self._person,
            "localizedFirstName": first,
            "firstName": {"localized": {"en_US": first}, "preferredLocale": locale},
            "localizedLastName": last,
            "lastName": {"localized": {"en_US": last}, "preferredLocale": locale},
            "profilePicture": {"displayImage": f"urn:li:digitalmediaAsset:{member.id}"},
        }
        if "r_basicprofile" in self._scopes:
            details |= {"vanityName": member.name.lower().replace(" ", "-"), "localizedHeadline": "At work"}
        return Answer.of_json(details)

    def roles(self, member: Member, request: ReceivedRequest) -> Answer:
        """The member's roles at LinkedIn pages, in parts."""
        self._check_page_admin()
        query = request.query
        if query.get("q") != "roleAssignee" or set(query) - {"q", "state", "role", "start", "count"}:
            raise Refusal(400, "The finder is not known.", "ILLEGAL_ARGUMENT")
        elements = [
            {"organization": f"urn:li:organization:{page}", "role": role, "roleAssignee": member.urn, "state": state}
            for page, (role, state) in member.roles.items()
            if query.get("state", state) == state and query.get("role", role) == role
        ]
        start, count = int(query.get("start", "0")), int(query.get("count", "10"))
        paging = {"start": start, "count": count, "total": len(elements), "links": []}
        return Answer.of_json({"elements": elements[start : start + count], "paging": paging})

    def organizations(self, member: Member, request: ReceivedRequest) -> Answer:
        """Several LinkedIn pages by their numbers, without those that do not exist."""
        self._check_page_admin()
        if not self._application.batches:
            raise _denied("organizations.BATCH_GET")
        ids = _LIST.fullmatch(request.query.get("ids", ""))
        if ids is None:
            raise Refusal(400, "Parameter ids is required", "PARAM_INVALID")
        pages = {number: self.store.pages[number] for number in ids[1].split(",") if number in self.store.pages}
        return Answer.of_json({"results": pages, "statuses": {}, "errors": {}})

    def organization(self, member: Member, request: ReceivedRequest) -> Answer:
        """A LinkedIn page by its number."""
        self._check_page_admin()
        page = self.store.pages.get(request.path.rpartition("/")[2])
        if page is None:
            raise Refusal(404, "Could not find entity", "RESOURCE_NOT_FOUND")
        return Answer.of_json(page)

    def create(self, member: Member, request: ReceivedRequest) -> Answer:
        """Create a LinkedIn post; the response has no body."""
        given = request.json()
        if unknown := set(given) - POST_FIELDS:
            raise Refusal(422, f"ERROR :: /{unknown.pop()} :: unrecognized field found but not allowed", "BAD_REQUEST")
        author = given.get("author")
        self.may_act_for(member, author)
        visibilities = {"PUBLIC", "CONNECTIONS"} if str(author).startswith("urn:li:person:") else {"PUBLIC"}
        fixed = (given.get("lifecycleState"), given.get("distribution"))
        if fixed != ("PUBLISHED", DISTRIBUTION) or given.get("visibility") not in visibilities:
            raise Refusal(422, "ERROR :: /visibility :: is not allowed for this author", "BAD_REQUEST")
        text = given.get("commentary")
        shown, _ = read_commentary(text)
        if len(shown) > 3000:
            message = "ERROR :: /commentary :: length of text exceeds the limit of 3000 characters"
            raise Refusal(422, message, "FIELD_LENGTH_TOO_LONG")
        content = given.get("content", {})
        uploads = self._attached(author, content)
        if not shown and not uploads:
            raise Refusal(422, "ERROR :: /commentary :: a post needs text or content", "MISSING_FIELD")
        if not uploads:
            self._check_repetition(author, shown)
        properties = {"visibility": given["visibility"], "content": content, "uploads": uploads}
        post = self.store.add_post(author, text, **properties)
        return Answer(201, b"", {"x-restli-id": post.urn, "Location": f"/posts/{post.urn}"})

    def comment(self, member: Member, request: ReceivedRequest) -> Answer:
        """Create a comment below a LinkedIn post."""
        given, urn = request.json(), unquote(request.path.split("/")[3])
        feeds = ("w_member_social_feed", "w_organization_social_feed")
        if not self._may(member, given.get("actor"), *feeds, COMMENTING_ROLES):
            raise _denied("partnerApiSocialActions.CREATE")
        if set(given) != {"actor", "object", "message"} or given["object"] != urn or set(given["message"]) != {"text"}:
            raise Refusal(400, "The comment's fields are not those of a comment.", "ILLEGAL_ARGUMENT")
        if urn not in self.store.posts:
            raise Refusal(404, "Could not find entity", "RESOURCE_NOT_FOUND")
        text = given["message"]["text"]
        if not 0 < len(text) <= 1250:
            raise Refusal(400, "The comment is longer than 1250 characters.", "FIELD_LENGTH_TOO_LONG")
        self.store.posts[urn].comments.append((given["actor"], text))
        return Answer.of_json({"actor": given["actor"], "object": urn}, 201, {"x-restli-id": str(self.store.new_number())})

    def _check_protocol(self, request: ReceivedRequest) -> None:
        if request.headers.get("linkedin-version") != self.version:
            asked = request.headers.get("linkedin-version")
            raise Refusal(426, f"Requested version {asked} is not active", "NONEXISTENT_VERSION")
        if request.headers.get("x-restli-protocol-version") != "2.0.0":
            raise Refusal(400, "Rest.li protocol version 2.0.0 is required", "ILLEGAL_ARGUMENT")

    def _check_page_admin(self) -> None:
        if "rw_organization_admin" not in self._scopes:
            raise _denied("organizationAcls.FINDER-roleAssignee")

    def _check_repetition(self, author: str, shown: str) -> None:
        since = datetime.now(UTC) - REPEATED_WITHIN
        for post in self.store.posts.values():
            if (post.author, post.text, bool(post.uploads)) == (author, shown, False) and post.made_at > since:
                message = "com.linkedin.content.common.exception.BadRequestResponseException: Content is a duplicate of "
                inputs = [{"description": "Duplicate post is detected", "input": {}, "code": "DUPLICATE_POST"}]
                details: dict[str, Any] = {
                    "errorDetailType": "com.linkedin.common.error.BadRequest",
                    "errorDetails": {"inputErrors": inputs},
                }
                raise Refusal(422, message + post.urn, **details)

    def _attached(self, author: str, content: dict[str, Any]) -> list[Upload]:
        match content:
            case {"article": {"source": str(), "title": str(), **rest}, **others} if not others:
                if set(rest) - {"description", "thumbnail"}:
                    raise Refusal(422, "ERROR :: /content/article :: unrecognized field found but not allowed", "BAD_REQUEST")
                return []
            case {"multiImage": {"images": list(images), **rest}, **others} if not rest and not others:
                if not 2 <= len(images) <= 20:
                    raise Refusal(422, "ERROR :: /content/multiImage/images :: takes 2 to 20 images", "BAD_REQUEST")
                return [self._attachable(author, each, {"images"}) for each in images]
            case {"media": dict(each), **others} if not others:
                return [self._attachable(author, each, {"images", "videos", "documents"})]
            case {}:
                if not content:
                    return []
        raise Refusal(422, "ERROR :: /content :: is not one of the content types", "BAD_REQUEST")

    def _attachable(self, author: str, given: dict[str, Any], collections: set[str]) -> Upload:
        upload = self.store.uploads.get(given.get("id", ""))
        if upload is None or upload.collection not in collections or upload.owner != author:
            raise Refusal(
                400, f"Media asset {given.get('id')} is not found or not owned by the author", "MEDIA_ASSET_INVALID"
            )
        if not upload.whole or upload.failure:
            raise Refusal(400, f"Media asset {upload.urn} cannot be used", "MEDIA_ASSET_INVALID")
        described = {"altText"} if upload.collection == "images" else {"title"}
        if set(given) - {"id", *described} or (upload.collection == "documents" and not given.get("title")):
            raise Refusal(422, "ERROR :: /content/media :: title or altText does not fit", "BAD_REQUEST")
        if len(given.get("altText", "")) > 4086:
            raise Refusal(422, "ERROR :: /content/media/altText :: is too long", "FIELD_LENGTH_TOO_LONG")
        return upload


def _denied(resource: str) -> Refusal:
    return Refusal(403, f"Not enough permissions to access: {resource}", "ACCESS_DENIED", serviceErrorCode=100)


def call_of(request: ReceivedRequest) -> str:
    """The name of a LinkedIn call: method, path and action, without URNs, numbers of pages and upload tokens."""
    path = re.sub(r"(?<=/dms-uploads/).*", ":token", _URN.sub(":urn", request.path))
    path = re.sub(r"(?<=/organizations/)\d+", ":number", path)
    action = request.query.get("action")
    return f"{request.method} {path}?{action}" if action else f"{request.method} {path}"
