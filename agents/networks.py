"""Networks of API keys: which ones a key may be used from, and which one an address belongs to.

An IPv4 address in IPv6 form (`::ffff:203.0.113.7`) counts as the IPv4 address that it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

MAX_ALLOWED = 20  # networks in the list of one key
SEEN_V4, SEEN_V6 = 24, 48  # prefix lengths by which the networks that a key was used from are told apart


def parse_network(text: str) -> str:
    """A network in CIDR notation, or one address, in its usual form. Raises ValueError, worded for the caller."""
    try:
        network = ip_network(text)
    except ValueError:
        raise ValueError(_what_is_wrong(text)) from None
    if isinstance(network, IPv6Network) and (network.network_address.ipv4_mapped or network.network_address.scope_id):
        raise ValueError("Must be an IPv4 network, or an IPv6 network without an IPv4 address or a zone in it.")
    return str(network)


def is_within(address: str | None, networks: Iterable[str]) -> bool:
    """Whether the address lies in one of the networks; an unknown address lies in none."""
    if address is None:
        return False
    found = _plain(address)
    return any(found in _network(network) for network in networks)


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The network that stands for an address in a key's history: a /24 of IPv4, a /48 of IPv6."""
    found = _plain(address)
    if isinstance(found, IPv4Address):
        return str(IPv4Network((int(found), SEEN_V4), strict=False))
    return str(IPv6Network((int(found), SEEN_V6), strict=False))


def _what_is_wrong(text: str) -> str:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return "Must be a network such as 203.0.113.0/24 or 2001:db8::/32, or one address."
    return f"Has bits set behind its prefix; write {network}."


def _plain(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address)
    return (found.ipv4_mapped if isinstance(found, IPv6Address) else None) or found


@lru_cache(maxsize=4096)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)
