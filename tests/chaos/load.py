"""Generates the posts of a run and sends them at a steady rate with several clients; some are cancelled or retried."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.chaos.api import Answers, Client, Reply, Unanswered
from tests.chaos.platforms import UNWANTED, Accepted, Account

CLIENTS = 12
PAST_IS_NOW = timedelta(seconds=60)  # what a time may be past and still means now
ENDED = frozenset({"published", "partial", "failed", "unconfirmed", "cancelled", "rejected"})


@dataclass
class Post:
    """One planned post and its answers."""

    marker: str
    accounts: tuple[Account, ...]
    delay: float | None = None  # seconds until it is scheduled; None: now
    cancel_after: float | None = None  # seconds from its time (negative: before it) to its cancellation
    webhook_url: str | None = None
    unwanted: bool = False
    impatient: bool = False
    scheduled_at: datetime | None = None
    group_ids: set[str] = field(default_factory=set)  # one, if keys hold what they promise
    refusal: str = ""
    cancelled: bool = False  # the service said so, of the whole post
    another_round: bool = False
    body: dict[str, Any] = field(default_factory=dict)  # the group as the API last returned it

    @property
    def group_id(self) -> str:
        """Return the id of the created post group, or ""."""
        return min(self.group_ids, default="")

    def is_late(self, now: datetime) -> bool:
        """Return whether the service was down so long that the post's time is too late."""
        return self.scheduled_at is not None and now > self.scheduled_at + PAST_IS_NOW

    def request(self, now: datetime) -> dict[str, Any]:
        """Return the request body, the same at every attempt."""
        text = f"{self.marker} {UNWANTED if self.unwanted else 'good'} news"
        targets = [{"platform": account.platform, "connected_account_id": account.id} for account in self.accounts]
        content: dict[str, Any] = {"text": text, "targets": targets}
        if self.delay is not None:
            at = now + timedelta(seconds=self.delay)
            self.scheduled_at = at.replace(microsecond=at.microsecond // 1000 * 1000)
            content["scheduled_at"] = self.scheduled_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self.webhook_url:
            content["webhook_url"] = self.webhook_url
        return content


def plan_posts(
    rng: random.Random, count: int, seed: int, accounts: Sequence[Account], receivers: Mapping[str, int]
) -> list[Post]:
    """Plan the posts of a run, the same for the same seed."""
    return [_plan(rng, f"chaos{seed}n{number:06}", accounts, receivers) for number in range(count)]


def _plan(rng: random.Random, marker: str, accounts: Sequence[Account], receivers: Mapping[str, int]) -> Post:
    wanted = min(rng.choices((1, 2, 3), (60, 25, 15))[0], len(accounts))
    post = Post(marker, tuple(rng.sample(accounts, wanted)))
    match rng.choices(("now", "later", "cancel"), (52, 36, 12))[0]:
        case "later":
            post.delay = rng.uniform(2.0, 10.0)
        case "cancel":
            post.delay, post.cancel_after = rng.uniform(0.5, 2.0), rng.uniform(-0.5, 0.4)
    if rng.random() < 0.6:
        post.webhook_url = rng.choices(list(receivers), list(receivers.values()))[0]
    post.unwanted = rng.random() < 0.03
    post.impatient = rng.random() < 0.06
    return post


class Load:
    """Sends the posts and counts them in `sent` and `accepted`."""

    def __init__(self, new_client: Callable[[], Client], posts: Sequence[Post]) -> None:
        self.posts = posts
        self.sent = self.accepted = 0
        self.deadline = float("inf")  # monotonic seconds: who has no answer by then has none
        self._new_client = new_client
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[float, Post]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, seconds: float) -> None:
        """Start to send all posts, spread over this many seconds."""
        began = time.monotonic()
        for number, post in enumerate(self.posts):
            self._waiting.put((began + seconds * number / len(self.posts), post))
        self._threads = [threading.Thread(target=self._send_all, daemon=True) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    @property
    def running(self) -> bool:
        """Return whether a client still has posts to send."""
        return any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """Stop sending."""
        self._stop.set()

    def _send_all(self) -> None:
        client = self._new_client()
        while not self._stop.is_set():
            try:
                at, post = self._waiting.get_nowait()
            except queue.Empty:
                return
            self._stop.wait(at - time.monotonic())
            if not self._stop.is_set():
                self._send(client, post)

    def _send(self, client: Client, post: Post) -> None:
        with self._lock:
            self.sent += 1
        try:
            body, key = post.request(datetime.now(UTC)), post.marker
            reply = client.call("POST", "/posts", body, key=key, deadline=self.deadline, impatient=post.impatient)
            if reply.status == 422 and post.is_late(datetime.now(UTC)):
                del body["scheduled_at"]
                post.scheduled_at = post.cancel_after = None
                key = f"{post.marker}-late"
                reply = client.call("POST", "/posts", body, key=key, deadline=self.deadline)
            self._learn(post, reply)
            if post.group_ids and post.cancel_after is not None:
                self._cancel(client, post)
            elif post.group_ids and post.impatient:  # a second client with the same key must get the same group
                self._learn(post, client.call("POST", "/posts", body, key=key, deadline=self.deadline))
        except Unanswered:
            post.refusal = post.refusal or "no answer before the deadline"

    def _learn(self, post: Post, reply: Reply) -> None:
        if reply.status != 201:
            post.refusal = f"{reply.status} {reply.body.get('code')} {reply.body.get('message')}"
            return
        with self._lock:
            self.accepted += not post.group_ids
        post.group_ids.add(reply.body["post_group"]["id"])

    def _cancel(self, client: Client, post: Post) -> None:
        assert post.scheduled_at is not None
        assert post.cancel_after is not None
        at = post.scheduled_at + timedelta(seconds=post.cancel_after)
        self._stop.wait(max(0.0, (at - datetime.now(UTC)).total_seconds()))
        key = f"{post.marker}-cancel"
        reply = client.call("DELETE", f"/posts/{post.group_id}", key=key, deadline=self.deadline)
        # A target that has begun goes on, and the answer shows the group as it then is.
        post.cancelled = reply.status == 200 and reply.body["post_group"]["status"] == "cancelled"


class Settling:
    """Polls the API until all accepted posts and deliveries have ended."""

    def __init__(self, client: Client, workspace_id: str, posts: Sequence[Post], say: Callable[[str], None]) -> None:
        self._client = client
        self._workspace_id = workspace_id
        self._posts = [post for post in posts if post.group_ids]
        self._say = say

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` until everything has ended; return whether it has."""
        deadline = time.monotonic() + seconds
        unread = self._posts
        try:
            while time.monotonic() < deadline:
                for post in unread:
                    self._read(post, deadline)
                unread = [post for post in unread if post.body.get("status") not in ENDED]
                waiting = self._deliveries_waiting(deadline)
                if not unread and not waiting:
                    return True
                self._say(f"settling: {len(unread)} posts unfinished, {waiting} deliveries waiting")
                time.sleep(3.0)
        except Unanswered as error:
            self._say(f"no answer while settling: {error}")
        return False

    def another_round(self, rng: random.Random, accepted: Accepted, deadline: float) -> int:
        """Resolve half of the unconfirmed posts by checking the platforms and retry the rest; return how many.

        Where sending again is harmless nobody has to look.
        """
        for post in self._posts:
            open_ends = [each for each in post.body["targets"] if each["status"] in {"failed", "unconfirmed"}]
            if post.unwanted or not open_ends or rng.random() < 0.5:
                continue
            harmless = all(account.repeatable for account in post.accounts)
            for target in open_ends:
                if target["status"] == "unconfirmed" and not harmless:
                    out = accepted[target["connected_account_id"], post.marker] > 0
                    resolution = {"permalink": "https://example.com/seen"} if out else {"published": False}
                    self._ask(post, "resolve", {"target_id": target["id"], **resolution}, deadline)
            self._ask(post, "retry", {"include_unconfirmed": harmless}, deadline)
            post.another_round = True
        return sum(post.another_round for post in self._posts)

    def _ask(self, post: Post, what: str, body: dict[str, Any], deadline: float) -> None:
        """Send a request with a new Idempotency-Key; 409 means that nothing is left to do."""
        key = f"{post.marker}-{what}-{body.get('target_id', '')}"
        reply = self._client.call("POST", f"/posts/{post.group_id}/{what}", body, key=key, deadline=deadline)
        if reply.status not in (200, 409):
            post.refusal = f"{what} of {post.group_id}: {reply.status} {reply.body}"

    def _read(self, post: Post, deadline: float) -> None:
        reply = self._client.call("GET", f"/posts/{post.group_id}", deadline=deadline)
        post.body = reply.body.get("post_group", {"status": f"answered {reply.status}"})

    def _deliveries_waiting(self, deadline: float) -> int:
        waiting = 0
        for status in ("pending", "retrying"):
            query = f"?workspace_id={self._workspace_id}&status={status}&limit=200"
            reply = self._client.call("GET", f"/webhooks/deliveries{query}", deadline=deadline)
            waiting += len(reply.body["deliveries"])
        return waiting


def new_clients(base_url: str, token: str, answers: Answers, rng: random.Random) -> Callable[[], Client]:
    """Create clients that share their statistics."""
    return lambda: Client(base_url, token, answers, random.Random(rng.random()))
