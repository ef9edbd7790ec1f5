"""The IP networks from which API keys are used: parses networks, and finds the network of an IP address.

An IPv4 address in IPv6 form (`::ffff:203.0.113.7`) counts as the IPv4 address that it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from django.utils.translation import gettext_noop

from config.api.client_address import parse_ip_address_or_raise

MAX_ALLOWED_NETWORKS = 20  # maximum number of networks in one key's list
IPV4_PREFIX_LENGTH, IPV6_PREFIX_LENGTH = (24, 48)  # prefix lengths of `seen_networks`


def normalize_network(text: str) -> str:
    """Parse a network from which an API key may be used, such as `192.0.2.0/24`, and return its canonical text.

    Raises ValueError with a text for users.
    """
    try:
        network = ip_network(text)
    except ValueError:
        raise ValueError(_network_error(text)) from None
    if isinstance(network, IPv6Network) and (network.network_address.ipv4_mapped or network.network_address.scope_id):
        raise ValueError(
            gettext_noop("Must be an IPv4 network, or an IPv6 network without an embedded IPv4 address or a zone.")
        )
    return str(network)


def is_in_networks(address: str | None, networks: Iterable[str]) -> bool:
    """Return whether the caller's IP address is in one of an API key's networks; False for an unknown address (None)."""
    if address is None:
        return False
    found = parse_ip_address_or_raise(address)
    return any(found in _network(network) for network in networks)


@lru_cache(maxsize=4096)
def network_of_key_use(address: str) -> str:
    """Return the network of an IP address (IPv4 /24 or IPv6 /48), as stored for an API key used from that address."""
    found = parse_ip_address_or_raise(address)
    if isinstance(found, IPv4Address):
        return str(IPv4Network((int(found), IPV4_PREFIX_LENGTH), strict=False))
    return str(IPv6Network((int(found), IPV6_PREFIX_LENGTH), strict=False))


def _network_error(text: str) -> str:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return gettext_noop("Must be a network such as 203.0.113.0/24 or 2001:db8::/32, or one address.")
    return f"Has bits set after its prefix; write {network}."


@lru_cache(maxsize=4096)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)
