"""The XRPC methods of the Bluesky stand-in: the input that each requires, and its response.

Not thread-safe: the caller holds the stand-in's lock. Order of the checks, statuses and messages measured against a
reference PDS that has no AppView: verb, authorization, body's type, body, permission, work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import regex

from tests.fakes.bluesky_repos import Repos
from tests.fakes.bluesky_service_auth import ServiceTokens
from tests.fakes.bluesky_sessions import Account, Sessions
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.xrpc import XrpcError, bearer_token, content_type, invalid_request, json_body

SERVER = "com.atproto.server."
REPO = "com.atproto.repo."
RESOLVE_HANDLE = "com.atproto.identity.resolveHandle"
SEARCH_PEOPLE = "app.bsky.actor.searchActorsTypeahead"
OWN_DOMAIN = ".test"
BLOB_UPLOAD_LIMIT = 5_242_880  # bytes, the default of a self-hosted server
HANDLE = r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
AT_IDENTIFIER = rf"did:[a-z]+:[a-z0-9._:%-]+|{HANDLE}"


class BlueskyMethods:
    """The Bluesky stand-in without HTTP: accounts, sessions, records and blobs in memory.

    `service_endpoint` is the PDS address that the didDoc of a session names (None: no didDoc, as on a small server).
    """

    def __init__(self, service_endpoint: str) -> None:
        self.service_endpoint: str | None = service_endpoint
        self.did = f"did:web:{urlsplit(service_endpoint).netloc.replace(':', '%3A')}"
        self.service_tokens = ServiceTokens()
        self.sessions = Sessions()
        self.repos = Repos()
        self.endpoints: dict[str, tuple[str, Callable[[ReceivedRequest], object]]] = {
            SERVER + "describeServer": ("GET", self._describe_server),
            SERVER + "createSession": ("POST", self._create_session),
            SERVER + "refreshSession": ("POST", self._refresh_session),
            SERVER + "getSession": ("GET", self._get_session),
            SERVER + "deleteSession": ("POST", self._delete_session),
            SERVER + "getServiceAuth": ("GET", self._get_service_auth),
            RESOLVE_HANDLE: ("GET", self._resolve_handle),
            SEARCH_PEOPLE: ("GET", self._search_people),
            REPO + "createRecord": ("POST", self._create_record),
            REPO + "putRecord": ("POST", self._put_record),
            REPO + "getRecord": ("GET", self._get_record),
            REPO + "deleteRecord": ("POST", self._delete_record),
            REPO + "uploadBlob": ("POST", self._upload_blob),
        }

    def perform(self, request: ReceivedRequest) -> Answer:
        """Answer a request to the Bluesky stand-in, which has no AppView, except for accounts with a profile."""
        if not request.path.startswith("/xrpc/"):
            return Answer(404, f"Cannot {request.method} {request.path}".encode())
        method = request.path.removeprefix("/xrpc/")
        try:
            if method not in self.endpoints or (method == SEARCH_PEOPLE and not self._profiles()):
                raise invalid_request(f"No service configured for {method}")
            verb, endpoint = self.endpoints[method]
            if request.method != verb:
                raise invalid_request(f"Incorrect HTTP method ({request.method}) expected {verb}")
            result = endpoint(request)
        except XrpcError as error:
            return error.answer()
        return Answer() if result is None else Answer.of_json(result)

    def _describe_server(self, request: ReceivedRequest) -> dict[str, Any]:
        return {
            "did": self.did,
            "availableUserDomains": [OWN_DOMAIN],
            "inviteCodeRequired": False,
            "blobUploadLimit": BLOB_UPLOAD_LIMIT,
            "links": {},
            "contact": {},
        }

    def _create_session(self, request: ReceivedRequest) -> dict[str, Any]:
        body = json_body(request, "identifier", "password")
        for key in ("identifier", "password"):
            if not isinstance(body[key], str):
                raise invalid_request(f"Expected string value type (got {body[key]}) at $.{key}")
        pair = self.sessions.log_in(body["identifier"], body["password"])
        return {**pair, **self._session_of(pair["accessJwt"])}

    def _refresh_session(self, request: ReceivedRequest) -> dict[str, Any]:
        token = bearer_token(request)
        if request.body:
            raise invalid_request("A request body was provided when none was expected")
        pair = self.sessions.refresh(token)
        return {**pair, **self._session_of(pair["accessJwt"])}

    def _get_session(self, request: ReceivedRequest) -> dict[str, Any]:
        return self._session_of(bearer_token(request))

    def _delete_session(self, request: ReceivedRequest) -> None:
        self.sessions.end(bearer_token(request))

    def _get_service_auth(self, request: ReceivedRequest) -> dict[str, Any]:
        account = self.sessions.writer(bearer_token(request))
        return {"token": self.service_tokens.issue(account.did, request.query)}

    def _session_of(self, access_token: str) -> dict[str, Any]:
        account = self.sessions.reader(access_token)
        session = {"did": account.did, "handle": account.handle, "active": True}
        session |= {"email": account.email, "emailConfirmed": True}
        if self.service_endpoint:
            service = {"id": "#atproto_pds", "type": "AtprotoPersonalDataServer"}
            service["serviceEndpoint"] = self.service_endpoint
            session["didDoc"] = {"id": account.did, "alsoKnownAs": [f"at://{account.handle}"], "service": [service]}
        return session

    def _resolve_handle(self, request: ReceivedRequest) -> dict[str, Any]:
        prefix = f"Invalid {RESOLVE_HANDLE} params: "
        if "handle" not in request.query:
            raise invalid_request(prefix + 'Missing required key "handle"')
        handle = request.query["handle"]
        if not regex.fullmatch(HANDLE, handle.lower()):
            raise invalid_request(f'{prefix}Invalid handle (got "{handle}")')
        account = self.sessions.find(handle)
        if account is None or account.taken_down:
            error = "HandleNotFound" if handle.lower().endswith(OWN_DOMAIN) else "InvalidRequest"
            raise XrpcError(400, error, "Unable to resolve handle")
        return {"did": account.did}

    def _search_people(self, request: ReceivedRequest) -> dict[str, Any]:
        """Return the Bluesky profiles of which a word of the name, or the handle, begins with `q`."""
        self.sessions.writer(bearer_token(request))
        limit = request.query.get("limit", "10")
        if not limit.isdigit() or not 1 <= int(limit) <= 100:
            raise invalid_request("Error: Params must have the property limit between 1 and 100")
        wanted = request.query.get("q", "").lower()
        found = [
            {"did": account.did, "handle": account.handle, "displayName": account.display_name}
            for account in self._profiles()
            if any(word.startswith(wanted) for word in (account.handle, *(account.display_name or "").lower().split()))
        ]
        return {"actors": found[: int(limit)] if wanted else []}

    def _profiles(self) -> list[Account]:
        return [account for account in self.sessions.accounts.values() if account.display_name is not None]

    def _create_record(self, request: ReceivedRequest) -> dict[str, Any]:
        account, body = self._write_call(request)
        return self.repos.create(account.did, body)

    def _put_record(self, request: ReceivedRequest) -> dict[str, Any]:
        account, body = self._write_call(request)
        return self.repos.put(account.did, body)

    def _delete_record(self, request: ReceivedRequest) -> dict[str, Any]:
        account, body = self._write_call(request)
        return self.repos.delete(account.did, body)

    def _write_call(self, request: ReceivedRequest) -> tuple[Account, dict[str, Any]]:
        """The caller of a Bluesky write method, who must own the repository that the body names, and the body."""
        account = self.sessions.writer(bearer_token(request))
        body = json_body(request, "repo")
        repo = body["repo"]
        if not isinstance(repo, str) or not regex.fullmatch(AT_IDENTIFIER, repo.lower()):
            raise invalid_request(f'Invalid AT identifier (got "{repo}") at $.repo')
        owner = self.sessions.find(repo)
        if owner is None:
            raise XrpcError(403, "AccountNotFound", "Account not found")
        if owner is not account:
            raise XrpcError(401, "AuthenticationRequired", "Authentication Required")
        return account, body

    def _get_record(self, request: ReceivedRequest) -> dict[str, Any]:
        """Return a Bluesky record to anybody: no token is required, and a bad one is ignored."""
        for key in ("repo", "collection", "rkey"):
            if key not in request.query:
                raise invalid_request(f'Invalid {REPO}getRecord params: Missing required key "{key}"')
        owner = self.sessions.find(request.query["repo"])
        if owner is None or owner.taken_down:
            raise invalid_request("Could not locate record")
        return self.repos.get(owner.did, request.query)

    def _upload_blob(self, request: ReceivedRequest) -> dict[str, Any]:
        account = self.sessions.writer(bearer_token(request))
        declared = content_type(request)
        if len(request.body) > BLOB_UPLOAD_LIMIT:
            raise XrpcError(413, "PayloadTooLarge", "request entity too large")
        return self.repos.blobs.store(account.did, request.body, declared)
