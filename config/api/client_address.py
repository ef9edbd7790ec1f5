"""Whose address a request comes from. Source: RFC 7239, section 5.2, on reading X-Forwarded-For."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse


class ClientAddressMiddleware:
    """REMOTE_ADDR becomes the address that spoke to the outermost of our own proxies (FORWARDED_ALLOW_IPS).

    X-Forwarded-For is read from its end, where our proxies write; what stands before their entries is anybody's claim.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
        while hops and _is_ours(request.META.get("REMOTE_ADDR", "")) and (address := _plain(hops.pop())):
            request.META["REMOTE_ADDR"] = address
            if "*" in settings.TRUSTED_PROXIES:  # whoever connects is a proxy; further away nobody is known to be one
                break
        return self.get_response(request)


def _plain(hop: str) -> str:
    """The address of an entry, which may carry a port and brackets; "" for anything else."""
    for candidate in (hop, hop.rpartition(":")[0].strip("[]"), hop.strip("[]")):
        try:
            return str(ip_address(candidate))
        except ValueError:
            continue
    return ""


def _is_ours(address: str) -> bool:
    """Whether a proxy of ours has this address; a Unix socket, which has none, is one."""
    if not address or "*" in settings.TRUSTED_PROXIES:
        return True
    try:
        return any(ip_address(address) in ip_network(proxy, strict=False) for proxy in settings.TRUSTED_PROXIES)
    except ValueError:
        return False
