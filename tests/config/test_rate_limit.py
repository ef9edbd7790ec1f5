"""The rate limit, in this process and through Redis."""

from __future__ import annotations

import socket
import threading
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from pytest_django import Settings

from agents.models import Agent
from config.api import rate_limit
from config.api.rate_limit import Bucket, InMemoryRateLimiter, RedisRateLimiter
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User

REDIS_URL = "redis://127.0.0.1:6379/0"


class Clock:
    """A clock for the limiter that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Clock:
    """Replace the clock of the local limiter."""
    settings.REDIS_URL = ""
    made = Clock()
    monkeypatch.setattr(rate_limit, "time", SimpleNamespace(monotonic=made.monotonic))
    return made


def limits_in(answer: Any) -> tuple[int, int, int, int]:
    """Return (status, limit, remaining, reset) of an answer."""
    limit, remaining, reset = (int(answer[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))
    return answer.status_code, limit, remaining, reset


def test_a_minutes_requests_may_come_at_once_and_then_one_by_one(api: ApiClient, settings: Settings, clock: Clock) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 60
    answers = [limits_in(api.get("/capabilities")) for _ in range(60)]

    assert answers == [(200, 60, 59 - n, n + 1) for n in range(60)]
    refused = api.get("/capabilities")
    assert_envelope(refused, 429, "RATE_LIMITED")
    assert (limits_in(refused), refused["retry-after"]) == ((429, 60, 0, 60), "1")
    clock.now += 0.999
    assert api.get("/capabilities").status_code == 429
    clock.now += 0.001
    assert limits_in(api.get("/capabilities")) == (200, 60, 0, 60)
    clock.now += 60
    assert limits_in(api.get("/capabilities")) == (200, 60, 59, 1)


def test_retry_after_is_the_time_until_the_next_request_is_allowed(agent_client: Any, clock: Clock) -> None:
    agent = agent_client(rate_limit_per_minute=2)
    answers = [agent.get("/capabilities") for _ in range(3)]

    assert [limits_in(answer) for answer in answers] == [(200, 2, 1, 30), (200, 2, 0, 60), (429, 2, 0, 60)]
    assert answers[2]["retry-after"] == "30"
    clock.now += 12.5
    assert agent.get("/capabilities")["retry-after"] == "18"
    clock.now += 17.5
    assert agent.get("/capabilities").status_code == 200
    assert agent.get("/capabilities")["retry-after"] == "30"


def test_each_key_and_each_person_has_a_limit_of_their_own(
    api: ApiClient, key_with: Any, agent_client: Any, owner: User, settings: Settings, clock: Clock
) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 1
    clients = [api, key_with("posts.read"), agent_client(), agent_client(rate_limit_per_minute=3), as_user(owner)]

    assert [client.get("/capabilities").status_code for client in clients] == [200] * 5
    assert [client.get("/capabilities").status_code for client in clients] == [429, 429, 429, 200, 429]


def test_all_keys_and_agents_of_a_workspace_share_one_limit_and_people_do_not(
    api: ApiClient,
    key_with: Any,
    agent_client: Any,
    owner: User,
    teammate: User,
    stranger: User,
    settings: Settings,
    clock: Clock,
) -> None:
    settings.RATE_LIMIT_PER_MINUTE, settings.WORKSPACE_RATE_LIMIT_PER_MINUTE = 60, 3
    for person in (owner, teammate, stranger):
        assert limits_in(as_user(person).get("/capabilities")) == (200, 60, 59, 1)
    clients = [api, key_with("posts.read"), agent_client(rate_limit_per_minute=600)]

    assert [limits_in(client.get("/capabilities")) for client in clients] == [
        (200, 3, 2, 20),
        (200, 3, 1, 40),
        (200, 3, 0, 60),
    ]
    for client in (*clients, key_with("posts.read")):
        refused = client.get("/capabilities")
        assert_envelope(refused, 429, "RATE_LIMITED")
        assert (limits_in(refused), refused["retry-after"]) == ((429, 3, 0, 60), "20")
    elsewhere = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    assert limits_in(elsewhere.get("/capabilities")) == (200, 3, 2, 20)
    assert [as_user(person).get("/capabilities").status_code for person in (owner, teammate, stranger)] == [200] * 3
    clock.now += 20
    assert limits_in(api.get("/capabilities")) == (200, 3, 0, 60)


def test_the_headers_show_the_tighter_limit(api: ApiClient, key_with: Any, settings: Settings, clock: Clock) -> None:
    settings.RATE_LIMIT_PER_MINUTE, settings.WORKSPACE_RATE_LIMIT_PER_MINUTE = 3, 4
    other = key_with("posts.read")

    assert [limits_in(api.get("/capabilities"))[:3] for _ in range(2)] == [(200, 3, 2), (200, 3, 1)]
    assert limits_in(other.get("/capabilities"))[:3] == (200, 4, 1)
    assert limits_in(api.get("/capabilities"))[:3] == (200, 3, 0)
    assert limits_in(api.get("/capabilities"))[:3] == (429, 3, 0)
    assert limits_in(other.get("/capabilities"))[:3] == (429, 4, 0)


@pytest.mark.parametrize("stored", [601, 2**31 - 1])
def test_an_agents_stored_limit_is_capped_at_the_maximum_of_the_service(
    agent_client: Any, api: ApiClient, settings: Settings, clock: Clock, stored: int
) -> None:
    settings.WORKSPACE_RATE_LIMIT_PER_MINUTE = 10_000
    agent = agent_client(rate_limit_per_minute=stored)

    assert limits_in(agent.get("/capabilities"))[1:3] == (600, 599)
    shown = api.get(f"/agents/{Agent.objects.get().id}").json()["settings"]
    assert shown["rate_limit_per_minute"] == 600


def test_invalid_requests_are_counted_too(api: ApiClient, settings: Settings, clock: Clock) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 2
    answers = [api.post("/auth/api-keys", b"{"), api.get("/accounts/nonsense/status"), api.post("/posts", b"{")]

    assert [limits_in(answer) for answer in answers] == [(400, 2, 1, 30), (404, 2, 0, 60), (429, 2, 0, 60)]


def test_requests_without_a_token_get_no_rate_limit_headers(db: None) -> None:
    assert "RateLimit-Limit" not in ApiClient().get("/capabilities").headers


def test_a_refused_request_is_counted_in_no_bucket(clock: Clock) -> None:
    assert_counts_in_all_or_none(InMemoryRateLimiter(), "key")


def assert_counts_in_all_or_none(limiter: InMemoryRateLimiter | RedisRateLimiter, key: str) -> None:
    one, two, both = Bucket(f"{key}-one", 2), Bucket(f"{key}-two", 3), Bucket(f"{key}-both", 4)

    assert [limiter.count_unless_limited(one, both).allowed for _ in range(4)] == [True, True, False, False]
    assert [limiter.count_unless_limited(two, both).allowed for _ in range(4)] == [True, True, False, False]
    assert [
        (verdict.allowed, verdict.remaining)
        for verdict in (limiter.count_unless_limited(two), limiter.count_unless_limited(two))
    ] == [
        (True, 0),
        (False, 0),
    ]


def test_the_local_limiter_is_thread_safe(clock: Clock) -> None:
    limiter = InMemoryRateLimiter()
    allowed: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda: allowed.extend(limiter.count_unless_limited(Bucket("a", 100)).allowed for _ in range(50))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (allowed.count(True), allowed.count(False)) == (100, 300)


def test_the_local_limiter_deletes_empty_buckets(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_LOCAL_ENTRIES", 10)
    limiter = InMemoryRateLimiter()
    for n in range(11):
        limiter.count_unless_limited(Bucket(f"silent-{n}", 60))
    clock.now += 1.5
    limiter.count_unless_limited(Bucket("busy", 1))
    limiter.count_unless_limited(Bucket("another", 60))

    assert not limiter.count_unless_limited(Bucket("busy", 1)).allowed
    assert len(limiter._empty_at) <= 3


@pytest.fixture
def shared_key() -> Iterator[tuple[str, redis.Redis]]:
    """Return a unique bucket key and the shared limiter that counts it."""
    client = redis.Redis.from_url(REDIS_URL, socket_connect_timeout=0.2)
    try:
        client.ping()
    except redis.RedisError:
        pytest.skip("no Redis answers at 127.0.0.1:6379")
    key = f"test-{uuid.uuid4().hex}"
    yield key, client
    client.delete(*client.scan_iter(f"rate:*:{key}*"))


def test_processes_share_a_limit_through_redis(shared_key: tuple[str, redis.Redis]) -> None:
    key, client = shared_key
    processes = [RedisRateLimiter(REDIS_URL), RedisRateLimiter(REDIS_URL)]
    verdicts = [processes[n % 2].count_unless_limited(Bucket(key, 3)) for n in range(4)]

    assert [(verdict.allowed, verdict.remaining) for verdict in verdicts] == [(True, 2), (True, 1), (True, 0), (False, 0)]
    assert verdicts[3].headers()["Retry-After"] == "20"
    assert 0 < client.ttl(f"rate:3:{key}") <= 60
    client.set(f"rate:3:{key}", float(client.get(f"rate:3:{key}") or 0) - 20)  # as 20 s later
    assert [processes[0].count_unless_limited(Bucket(key, 3)).allowed for _ in range(2)] == [True, False]


def test_redis_counts_in_all_buckets_or_none(shared_key: tuple[str, redis.Redis]) -> None:
    assert_counts_in_all_or_none(RedisRateLimiter(REDIS_URL), shared_key[0])


def test_redis_returns_the_tighter_of_two_buckets(shared_key: tuple[str, redis.Redis]) -> None:
    limiter, key = RedisRateLimiter(REDIS_URL), shared_key[0]
    own, other, shared = Bucket(f"{key}-own", 3), Bucket(f"{key}-other", 3), Bucket(f"{key}-shared", 4)
    verdicts = [limiter.count_unless_limited(bucket, shared) for bucket in (own, own, other, own, own, other)]

    assert [(verdict.allowed, verdict.bucket.limit, verdict.remaining) for verdict in verdicts] == [
        (True, 3, 2),
        (True, 3, 1),
        (True, 4, 1),
        (True, 3, 0),
        (False, 3, 0),
        (False, 4, 0),
    ]


def test_threads_together_get_no_more_than_the_limit_from_redis(shared_key: tuple[str, redis.Redis]) -> None:
    key, _ = shared_key
    limiter = RedisRateLimiter(REDIS_URL)
    allowed: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda: allowed.extend(limiter.count_unless_limited(Bucket(key, 10)).allowed for _ in range(5))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (allowed.count(True), allowed.count(False)) == (10, 30)


def test_while_redis_is_down_the_process_counts_by_itself(
    api: ApiClient, settings: Settings, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.REDIS_URL = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
        settings.RATE_LIMIT_PER_MINUTE = 2
        answers = [api.get("/capabilities") for _ in range(3)]
        clock.now += 5
        answers.append(api.get("/capabilities"))

    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert [record.levelname for record in caplog.records if record.name == rate_limit.__name__] == ["WARNING"] * 2


def test_a_silent_redis_delays_one_request_only() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(0)
        limiter = RedisRateLimiter(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        verdicts = [limiter.count_unless_limited(Bucket("a", 20)) for _ in range(21)]
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()

    assert [verdict.allowed for verdict in verdicts] == [True] * 20 + [False]
