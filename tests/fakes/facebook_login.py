"""Facebook Login in the stand-in: consent, codes, a person's tokens, and the tokens of the person's pages.

Sources: developers.facebook.com, facebook-login/guides/advanced/manual-flow, facebook-login/guides/access-tokens,
pages-api/manage-pages.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import (
    VERSION,
    GraphRefusal,
    bearer_of,
    fields_of,
    form_of,
    invalid_parameter,
    invalid_token,
    list_page,
    proof_of,
)

CLIENT_ID, CLIENT_SECRET = "1789789789789", "secret-of-the-app"
KNOWN_SCOPES = frozenset(
    {
        "public_profile",
        "pages_show_list",
        "pages_read_engagement",
        "pages_manage_posts",
        "pages_manage_engagement",
        "business_management",
    }
)
PAGE_FIELDS = {"id", "name", "username", "link", "picture", "access_token", "tasks"}
SHORT, LONG = timedelta(hours=1), timedelta(days=60)
CODE_LIVES = timedelta(minutes=10)


@dataclass
class FacebookPage:
    """A Facebook page."""

    id: str
    name: str
    username: str = ""

    def entity(self) -> dict[str, object]:
        named = {"username": self.username} if self.username else {}
        picture = {"data": {"url": f"https://scontent.example/{self.id}.jpg", "is_silhouette": False}}
        link = f"https://www.facebook.com/{self.username or self.id}"
        return {"id": self.id, "name": self.name, **named, "link": link, "picture": picture}


@dataclass
class Person:
    """A person with roles at pages: page id → tasks."""

    id: str
    name: str
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Token:
    """The access of a token: to a person, or to one of the person's pages. `ends` None: it does not expire."""

    person: Person
    page_id: str = ""
    ends: datetime | None = None


@dataclass(frozen=True)
class Code:
    person: Person
    redirect_uri: str
    ends: datetime


class FacebookLogin:
    """The dialog and the token endpoint of one app."""

    def __init__(self, site: str, pages: dict[str, FacebookPage]) -> None:
        self._site, self._pages = site, pages
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Code] = {}
        self.tokens: dict[str, Token] = {}

    def grant(self, url: str, person: Person, scopes: Iterable[str] | None) -> str:
        """Consent as the person to the scopes of the URL, or to these only; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(",")
        wrong_ones = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/{VERSION}/dialog/oauth",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not KNOWN_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
        }
        if named := [name for name, is_wrong in wrong_ones.items() if is_wrong]:
            raise ValueError(f"Facebook shows an error instead of the consent: {', '.join(named)}")
        granted = set(wanted if scopes is None else scopes) | {"public_profile"}
        person.permissions = {each: "granted" if each in granted else "declined" for each in {*wanted, *granted}}
        code = secrets.token_urlsafe(40)
        self.codes[code] = Code(person, asked["redirect_uri"], datetime.now(UTC) + CODE_LIVES)
        return f"{code}#_"

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code for a short-lived token, or that for a long-lived one."""
        given = form_of(request)
        if given.get("client_id") != CLIENT_ID:
            raise GraphRefusal(101, "Error validating application. Cannot get application info due to a system error.")
        if given.get("client_secret") != CLIENT_SECRET:
            raise GraphRefusal(1, "Error validating client secret.")
        if given.get("grant_type") == "fb_exchange_token":
            token = self._living(given.get("fb_exchange_token", ""))
            return self._issued(token.person, LONG)
        code = self.codes.pop(given.get("code", ""), None)
        if code is None or datetime.now(UTC) >= code.ends:
            raise GraphRefusal(100, "This authorization code has been used.", 36009)
        if given.get("redirect_uri") != code.redirect_uri:
            raise GraphRefusal(100, "Error validating verification code. Please make sure your redirect_uri is identical.")
        return self._issued(code.person, SHORT)

    def access_of(self, request: ReceivedRequest) -> Token:
        """The access of this request's token; the app requires a proof with every call."""
        token = bearer_of(request)
        opened = self._living(token)
        if proof_in(request) != proof_of(CLIENT_SECRET, token):
            raise invalid_parameter("API calls from the server require an appsecret_proof argument")
        return opened

    def person_of(self, request: ReceivedRequest) -> Person:
        token = self.access_of(request)
        if token.page_id:
            raise invalid_parameter("Tried accessing nonexisting field (accounts) on node type (Page)")
        return token.person

    def permissions(self, request: ReceivedRequest) -> Answer:
        person = self.person_of(request)
        fields = [{"permission": name, "status": status} for name, status in person.permissions.items()]
        return Answer.of_json({"data": fields})

    def accounts(self, request: ReceivedRequest) -> Answer:
        """Return the person's pages with a token for each, which lives as long as the person's or does not expire."""
        token, person = self.access_of(request), self.person_of(request)
        wanted = fields_of(request, PAGE_FIELDS)
        if person.permissions.get("pages_show_list") != "granted":
            return Answer.of_json({"data": []})
        pages = []
        for page_id, tasks in person.roles.items():
            lasting = token.ends is not None and token.ends - datetime.now(UTC) > SHORT
            page_token = self.new_token(Token(person, page_id, None if lasting else token.ends))
            entity = {**self._pages[page_id].entity(), "access_token": page_token, "tasks": list(tasks)}
            pages.append({name: value for name, value in entity.items() if name in wanted})
        return list_page(pages, request)

    def me(self, request: ReceivedRequest) -> Answer:
        token = self.access_of(request)
        wanted = fields_of(request, PAGE_FIELDS) | {"id"}
        entity = self._pages[token.page_id].entity() if token.page_id else {"id": token.person.id}
        return Answer.of_json({name: value for name, value in entity.items() if name in wanted})

    def new_token(self, token: Token) -> str:
        made = f"EAA{secrets.token_hex(60)}"
        self.tokens[made] = token
        return made

    def _living(self, token: str) -> Token:
        opened = self.tokens.get(token)
        if opened is None:
            raise invalid_token(460, "The session has been invalidated because the user changed their password.")
        if opened.ends and datetime.now(UTC) >= opened.ends:
            raise invalid_token(463)
        if opened.page_id and opened.page_id not in opened.person.roles:
            raise invalid_token(492, "The session is invalid because the user has no role on the page.")
        return opened

    def _issued(self, person: Person, lives: timedelta) -> Answer:
        token = self.new_token(Token(person, ends=datetime.now(UTC) + lives))
        return Answer.of_json({"access_token": token, "token_type": "bearer", "expires_in": int(lives.total_seconds())})


def proof_in(request: ReceivedRequest) -> str:
    """The proof among the parameters; files are not read for it."""
    if request.headers.get("content-type", "") == "application/x-www-form-urlencoded":
        return form_of(request).get("appsecret_proof", "")
    return request.query.get("appsecret_proof", "")
