"""Middleware that sets REMOTE_ADDR to the client's address behind trusted proxies (X-Forwarded-For)."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse


class ClientAddressMiddleware:
    """Sets REMOTE_ADDR to the address that connected to the outermost trusted proxy (FORWARDED_ALLOW_IPS).

    X-Forwarded-For is read from its end, where trusted proxies append. Entries before theirs can be forged by the client.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
        while hops and _is_ours(request.META.get("REMOTE_ADDR", "")) and (address := _plain(hops.pop())):
            request.META["REMOTE_ADDR"] = address
            if "*" in settings.TRUSTED_PROXIES:  # only the direct peer is trusted: earlier entries may be forged
                break
        return self.get_response(request)


def _plain(hop: str) -> str:
    """Return the IP address of an X-Forwarded-For entry without port and brackets; "" when it is no address."""
    for candidate in (hop, hop.rpartition(":")[0].strip("[]"), hop.strip("[]")):
        try:
            return str(ip_address(candidate))
        except ValueError:
            continue
    return ""


def _is_ours(address: str) -> bool:
    """Return whether the address is a trusted proxy. A Unix socket has no address and is trusted."""
    if not address or "*" in settings.TRUSTED_PROXIES:
        return True
    try:
        return any(ip_address(address) in ip_network(proxy, strict=False) for proxy in settings.TRUSTED_PROXIES)
    except ValueError:
        return False
