"""Calls that fail in the ways that every server can fail, and the error that each adapter is expected to raise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.errors import CredentialsRejected, OutcomeUnknown, PlatformError, RateLimited, Transient
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Content, Grant, Identity, Progress, Published
from tests.accounts.platforms.contract.world import World
from tests.fakes.http_server import DROPPED, Answer, RawAnswer

TEXT = "A text that no error shows"
BROKEN: Mapping[str, Answer | RawAnswer] = {
    "503": Answer(503),
    "504": Answer(504, b"<html>Gateway timeout</html>"),
    "cut": DROPPED,
    "oversized": Answer(200, b'{"a": "' + b"x" * 5_000_000 + b'"}'),
    "html": Answer(200, b"<html>Welcome</html>"),
    "list": Answer(200, b"[]"),
    "object": Answer(200, b"{}"),
    "empty": Answer(200),
    "deep": Answer(200, b"[" * 50_000),
    "401": Answer(401),
    "403 html": Answer(403, b"<html>Blocked</html>"),
    "404 html": Answer(404, b"<html>Not found</html>"),
    "307": Answer(307, b"", {"Location": "/elsewhere"}),
    "418": Answer(418),
    "429": Answer(429, b"", {"Retry-After": "30"}),
}
GROUPS = {
    "unreadable": ("html", "list", "object", "empty", "deep"),
    "refused": ("401", "403 html", "404 html", "307", "418"),
    "lost": ("503", "504", "cut", "oversized"),
}


def expected(world: World, act: str, call: str, fault: str) -> type[PlatformError] | None:
    """The error that this fault of this call leads to; None when everything goes on."""
    [group] = [name for name, faults in GROUPS.items() if fault in faults] or [""]
    unusual = {**world.unusual.get((act, "*"), {}), **world.unusual.get((act, call), {})}
    for name in (fault, group, "any"):
        if name in unusual:
            return unusual[name]
    if fault == "429":
        return RateLimited
    if fault == "401" and act in ("identify", "publish", "find_people"):
        return world.unauthorized
    if fault == "401" and act == "connect" and world.unauthorized is not Transient:
        return CredentialsRejected
    if act == "revoke" and group == "unreadable":
        return None
    if act == "publish" and call == world.create and group in ("lost", "unreadable"):
        return OutcomeUnknown
    return Transient


def calls_of(world: World, act: Callable[[], object]) -> list[str]:
    """The calls that the act makes, in order of their first time, as far as they can be made to fail."""
    before = len(world.server.requests)
    act()
    made = (world.server.call_of(request) for request in world.server.requests[before:])
    return [call for call in dict.fromkeys(made) if call in world.server.calls]


def error_of(act: Callable[[], object], secrets: list[str]) -> PlatformError | None:
    """The error that the act raises, which shows no secret and no text of a post."""
    caught: PlatformError | None = None
    try:
        act()
    except PlatformError as error:
        caught = error
    if caught:
        shown = f"{caught!r} {caught.suggested_action} {caught.__cause__!r}"
        assert not [secret for secret in (*secrets, TEXT) if secret in shown]
        assert caught.message.isprintable()
        assert len(caught.message) < 600
    return caught


def failures(
    world: World,
    act_name: str,
    act: Callable[[], object],
    secrets: list[str],
    calls: list[str],
    faults: Sequence[str] = tuple(BROKEN),
) -> Iterator[tuple[str, str, object, object]]:
    """What differs from what is expected when each of these calls fails in each way: call, fault, error, expected one."""
    for call in calls:
        for fault in faults:
            world.server.forget_faults()
            world.server.refuse_next(call, BROKEN[fault])
            error, wanted = error_of(act, secrets), expected(world, act_name, call, fault)
            assert world.server.faults_ahead(call) == 0, (call, fault)
            if (type(error) if error else None) is not wanted:
                yield call, fault, error, wanted
            if isinstance(error, RateLimited) and error.retry_after not in (30.0, world.pause_of_30):
                yield call, fault, error.retry_after, world.pause_of_30
    world.server.forget_faults()


def secrets_in(grant: Grant) -> list[str]:
    """The values of a grant that open the account."""
    named = {**grant.credentials, **grant.tokens}
    words = ("token", "secret", "password", "webhook_url")
    return [str(value) for name, value in named.items() if any(word in name for word in words) and value]


def publish(world: World, grant: Grant, content: Content) -> Published:
    """Take all steps, each from what a database gives back."""
    result: Progress | Published = START
    while isinstance(result, Progress):
        result = step(world, grant, content, result)
    return result


def step(world: World, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
    """Take one step."""
    stored = Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
    return get_adapter(world.name).publish_step(grant, content, stored)


def altered(body: bytes) -> Iterator[bytes]:
    """The JSON document with one of its values at a time left out, of another type, or hostile."""
    document = json.loads(body)
    for path in _paths(document):
        for value in (_LEFT_OUT, 7, "../admin", "A\x00\n\ud800" + "x" * 5_000):
            yield json.dumps(_replaced(document, path, value)).encode()


_LEFT_OUT = object()


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if len(path) < 3:
        items = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
        for key, item in items:
            yield from _paths(item, (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = list(value) if isinstance(value, list) else dict(value)
    replaced = _replaced(copy[path[0]], path[1:], by)
    if replaced is _LEFT_OUT:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced
    return copy


def altered_answers(world: World, call: str, act: Callable[[], object]) -> list[bytes]:
    """The alterations of what the call really answers when this act makes it; none where that is no JSON."""
    bodies: list[bytes] = []

    def recorded(body: bytes) -> bytes:
        bodies.append(body)
        return body

    world.server.alter_next(call, recorded)
    act()
    return list(altered(bodies[0])) if bodies[0].startswith((b"{", b"[")) else []


def answer_next(world: World, call: str, body: bytes) -> None:
    """The next call is done, and this is the body of its answer."""
    world.server.forget_faults()
    world.server.alter_next(call, lambda _: body)


def assert_harmless(identity: Identity) -> None:
    """Nothing that a page or a log shows of the account can do harm."""
    assert identity.external_id
    for text, limit in ((identity.external_id, 512), (identity.handle, 400), (identity.display_name, 400)):
        assert isinstance(text, str)
        assert text.isprintable()
        assert len(text) <= limit
    assert "../" not in identity.external_id
    for address in (identity.avatar_url, identity.profile_url):
        assert_harmless_address(address)


def assert_harmless_address(address: str) -> None:
    """An address is empty or of the web, and leads nowhere else than it seems."""
    assert not address or address.startswith(("https://", "http://127.0.0.1"))
    assert "../" not in address
    assert address.isprintable()
