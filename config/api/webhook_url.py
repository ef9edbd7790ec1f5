"""The serializer field for webhook URLs in request bodies, and the checks of such a URL.

A `WebhookUrlField` checks what the URL itself shows. Its host is looked up later, with those of all other webhook URLs in the
body, once the whole body is validated.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from typing import Any

from django.conf import settings

from config.api.caller import Caller
from config.api.errors import WebhookUrlNotAllowed
from config.api.fields import Text
from config.api.request_limits import WebThreadLimit
from config.outbound import DestinationNotAllowed, check_url_without_lookup, check_urls_with_lookup

MAX_LENGTH = 2048
LOOKUP_SECONDS = 3.0  # for all names of a request
LOOKUP_SECONDS_AT_THREAD_LIMIT = 0.2
dns_lookup_thread_limit = WebThreadLimit(settings.WEB_THREADS // 4, each=1)
_read_urls: ContextVar[set[str] | None] = ContextVar("read_webhook_urls", default=None)


class WebhookUrlField(Text):
    """A serializer field for a webhook URL, which checks the URL without a DNS lookup. Raises WebhookUrlNotAllowed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_LENGTH, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        self.run_validators(url)
        check_webhook_url_without_lookup(url)
        urls = _read_urls.get()
        if urls is not None:
            urls.add(url)
        return url


@contextlib.contextmanager
def collect_webhook_urls_for_host_check() -> Iterator[set[str]]:
    """Return a context manager that collects the webhook URLs validated in its block, for `check_webhook_hosts`."""
    urls: set[str] = set()
    token = _read_urls.set(urls)
    try:
        yield urls
    finally:
        _read_urls.reset(token)


def check_webhook_url_without_lookup(url: str | None) -> None:
    """Check a webhook URL, if there is one, without a DNS lookup. Raises WebhookUrlNotAllowed.

    A transaction must not wait for the network, so the addresses of a host name are checked elsewhere (check_webhook_hosts).
    """
    if url is not None:
        with _refused_as_webhook_url():
            check_url_without_lookup(url)


def check_webhook_hosts(urls: Collection[str], caller: Caller) -> None:
    """Look up the hosts of webhook URLs before a transaction begins. Raises WebhookUrlNotAllowed if a host is not public.

    A name that does not resolve in time is accepted. The wait is LOOKUP_SECONDS while `dns_lookup_thread_limit` has a free
    thread, and LOOKUP_SECONDS_AT_THREAD_LIMIT otherwise, so that slow name servers cannot occupy all threads.
    """
    if not urls:
        return
    share_of = caller.workspace_id or caller.actor_id
    waits = dns_lookup_thread_limit.try_acquire_thread(share_of)
    try:
        with _refused_as_webhook_url():
            check_urls_with_lookup(urls, seconds=LOOKUP_SECONDS if waits else LOOKUP_SECONDS_AT_THREAD_LIMIT)
    finally:
        if waits:
            dns_lookup_thread_limit.release_thread(share_of)


@contextlib.contextmanager
def _refused_as_webhook_url() -> Iterator[None]:
    try:
        yield
    except DestinationNotAllowed as error:
        raise WebhookUrlNotAllowed(f"Events cannot be sent to this address: {error.reason}") from error
