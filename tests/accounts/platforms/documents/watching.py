"""Every request that stand-ins receive, held against the documents of the platforms that they stand in for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.accounts.platforms.documents.requirements import faults, without_document
from tests.fakes.http_server import LoopbackServer, ReceivedRequest, observed


@contextmanager
def held_against_documents() -> Iterator[None]:
    """AssertionError at the end of the `with` block when a platform's document does not allow a request made inside it."""
    received: list[tuple[str, ReceivedRequest]] = []

    def keep(server: LoopbackServer, request: ReceivedRequest) -> None:
        if server.platform and server.platform not in without_document():
            received.append((server.platform, request))

    with observed(keep):
        yield
    found = [fault for platform, request in received for fault in faults(platform, request)]
    assert not found, "Requests that the platform's document does not allow:\n" + "\n".join(dict.fromkeys(found))
