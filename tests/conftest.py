"""Fixtures of all tests: an API client, and a workspace with its owner, a teammate and a stranger."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.test import Client, TransactionTestCase, override_settings
from urllib3.filepost import encode_multipart_formdata

from accounts.models import ConnectedAccount
from config.api import rate_limit, request_limits
from config.api.scopes import SCOPES
from tests import factories
from tests.committed_rows import delete_committed_rows
from tests.contract.answers import assert_documented
from tests.fakes.name_server import NameServer, Zone
from workspaces.models import Member, User, Workspace

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup"}
OPERATORS_TOKEN = "an-operators-token-of-some-length-0123456789"


class ApiClient:
    """A JSON client with a bearer token. Every answer is validated against the OpenAPI document."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token
        self.http = Client(raise_request_exception=False)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            named.setdefault("authorization", f"Bearer {self.token}")
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        kind = named.pop("content-type", "application/json")
        answer = self.http.generic(method, path, content, content_type=kind, headers=named)
        assert_documented(method, path, answer)
        return answer

    def get(self, path: str, **headers: str) -> Any:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.request("POST", path, {} if body is None else body, **headers)

    def upload(self, content: bytes, filename: str = "bench.jpg", *, path: str = "/media", **fields: str) -> Any:
        """Send a file as a form with these fields; `idempotency_key` is the header."""
        headers = {name: fields.pop(name) for name in ("idempotency_key",) if name in fields}
        body, kind = encode_multipart_formdata({**fields, "file": (filename, content, "application/octet-stream")})
        return self.request("POST", path, body, content_type=kind, **headers)

    def delete(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.request("DELETE", path, body, **headers)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="leave out tests that are the same with every database")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--database-only"):
        leave_out = [item for item in items if not _uses_the_database(item)]
        config.hook.pytest_deselected(items=leave_out)
        items[:] = [item for item in items if _uses_the_database(item)]


def _uses_the_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or not fixtures.isdisjoint(DATABASE_FIXTURES)


def pytest_collection_finish() -> None:
    """Collect garbage less often, and without the objects that exist before the first test, because they stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(2000, 20, 100)  # a seventh of the CPU time went into it with Python's 700, 10, 10


def pytest_sessionfinish() -> None:
    """Delete the wake-ups that tests sent through a real broker."""
    if django_settings.REDIS_URL:
        current_app.control.purge()


@pytest.fixture(scope="session", autouse=True)
def _quick_flush() -> Iterator[None]:
    """Delete what a test has committed without Django's slow `flush`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", delete_committed_rows)
        yield


@pytest.fixture(scope="session", autouse=True)
def _settings_of_all_tests(django_test_environment: None) -> Iterator[None]:
    """Change settings once for all tests, because each change in a test asks a dozen receivers to forget what they keep."""
    with override_settings(
        RATE_LIMIT_PER_MINUTE=100_000,  # only tests of the rate limit reach it
        WORKSPACE_RATE_LIMIT_PER_MINUTE=100_000,
        OUTBOUND_NAMESERVERS=["127.0.0.1:9"],  # nothing runs there, so that lookups of all names but localhost fail at once
        WHITENOISE_USE_FINDERS=False,  # each test client would search all packages for static files
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],  # the real one is slow on purpose
    ):
        yield


@pytest.fixture(autouse=True)
def _fresh_rate_limits() -> None:
    """Start each test with empty rate limit buckets."""
    rate_limit.rate_limiter_for_redis_url.cache_clear()


@pytest.fixture
def wide_outside_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the limits of threads that wait for other servers, for tests with many such requests at once."""
    monkeypatch.setattr(request_limits, "outbound_thread_limit", request_limits.WebThreadLimit(16))
    monkeypatch.setattr(request_limits, "operator_server_thread_limit", request_limits.WebThreadLimit(16))


class ServeNames(Protocol):
    def __call__(self, zone: Zone, *, together: int = 0) -> NameServer: ...


@pytest.fixture
def name_server(settings: Any) -> Iterator[ServeNames]:
    """Return a function that starts a name server and makes it the service's only one."""
    with ExitStack() as servers:

        def start(zone: Zone, *, together: int = 0) -> NameServer:
            server = servers.enter_context(NameServer(zone, together=together))
            settings.OUTBOUND_NAMESERVERS = [server.address]
            return server

        yield start


@pytest.fixture
def owner(db: None) -> User:
    return factories.UserFactory(display_name="Owner")


@pytest.fixture
def workspace(owner: User) -> Workspace:
    return factories.WorkspaceFactory(owner_user=owner)


@pytest.fixture
def teammate(workspace: Workspace) -> User:
    user = factories.UserFactory(display_name="Teammate")
    Member.objects.create(workspace=workspace, user=user, role="member")
    return user


@pytest.fixture
def stranger(db: None) -> User:
    """Return the owner of another workspace."""
    return factories.WorkspaceFactory().owner_user


@pytest.fixture
def account(workspace: Workspace) -> ConnectedAccount:
    return factories.AccountFactory(workspace=workspace)


@pytest.fixture
def api(workspace: Workspace) -> ApiClient:
    """Return an API client with a workspace key of every scope."""
    return ApiClient(factories.workspace_key(workspace))


@pytest.fixture
def operator(db: None, settings: Any) -> ApiClient:
    """Return an API client with the operator's token, and set ADMIN_TOKEN to that token."""
    settings.ADMIN_TOKEN = OPERATORS_TOKEN
    return ApiClient(OPERATORS_TOKEN)


@pytest.fixture
def key_with(workspace: Workspace) -> Any:
    """Return a function that creates an API client with a workspace key of the given scopes."""

    def make(*scopes: str) -> ApiClient:
        return ApiClient(factories.workspace_key(workspace, scopes))

    return make


@pytest.fixture
def agent_client(workspace: Workspace) -> Any:
    """Return a function that creates an agent of the workspace and an API client with its key."""

    def make(scopes: Iterable[str] = SCOPES, **fields: Any) -> ApiClient:
        return ApiClient(factories.agent_key(factories.AgentFactory(workspace=workspace, scopes=list(scopes), **fields)))

    return make
