"""Checks which IP addresses the service may connect to.

`ipaddress.is_global` is not sufficient: it allows multicast, 6to4 and NAT64 addresses. Sources: the IANA
special-purpose address registries (RFC 6890 and its successors), RFC 9637 (3fff::/20), RFC 7526 (192.88.99.0/24).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings

_REFUSED_V4 = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
)
# Everything outside 2000::/3 is refused at once: loopback, local, multicast, IPv4-mapped, IPv4-compatible and NAT64.
_ALLOCATED_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = (
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4: carries an IPv4 address
    IPv6Network("3fff::/20"),  # documentation
)
_LOOPBACK_V6 = IPv6Address("::1")


def is_public_address(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether `ip` is a public unicast address; False when it does not parse."""
    address = _parsed(ip)
    if isinstance(address, IPv4Address):
        return (
            address.is_global
            and not address.is_multicast
            and not address.is_reserved
            and not any(address in network for network in _REFUSED_V4)
        )
    if isinstance(address, IPv6Address):
        return (
            address in _ALLOCATED_V6
            and address.scope_id is None
            and not any(address in network for network in _REFUSED_V6)
        )
    return False


def is_loopback_address(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether `ip` is in 127.0.0.0/8 or is ::1; an IPv4-mapped loopback address is not."""
    address = _parsed(ip)
    if isinstance(address, IPv4Address):
        return address.is_loopback
    return address == _LOOPBACK_V6


def address_allowed(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether connections to `ip` are allowed: public addresses, and loopback if OUTBOUND_ALLOW_LOOPBACK is set."""
    return is_public_address(ip) or (settings.OUTBOUND_ALLOW_LOOPBACK and is_loopback_address(ip))


def _parsed(ip: str | IPv4Address | IPv6Address) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(ip)
    except ValueError:
        return None
