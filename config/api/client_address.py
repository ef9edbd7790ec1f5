"""Parses clients' IP addresses, and returns the address or network by which rate limits count a client."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from django.http import HttpRequest

IPV6_PREFIX_LENGTH = 64  # one subscriber usually has all addresses of such a network


def parse_ip_address_or_raise(address: str) -> IPv4Address | IPv6Address:
    """Parse a client's IP address; an IPv4 address in IPv6 form (`::ffff:203.0.113.7`) becomes IPv4. Raises ValueError."""
    found = ip_address(address)
    return (found.ipv4_mapped if isinstance(found, IPv6Address) else None) or found


def client_address_for_rate_limits(request: HttpRequest) -> str:
    """Return the address by which rate limits count a client without a token: its IPv4 address, or the /64 of its IPv6 one.

    Returns "" if the client has no IP address.
    """
    try:
        found = parse_ip_address_or_raise(str(request.META.get("REMOTE_ADDR", "")))
    except ValueError:
        return ""
    if isinstance(found, IPv4Address):
        return str(found)
    return str(IPv6Network((int(found), IPV6_PREFIX_LENGTH), strict=False))
