"""Checks the destinations of outbound requests: the URL's syntax, and every IP address of its host.

The syntax is matched by one strict pattern, so that two URL parsers cannot disagree about what was checked. Hosts refused
by name would also be refused by address; the name check only gives a clearer reason.
For addresses `ipaddress.is_global` is not sufficient: it allows multicast, 6to4 and NAT64 addresses. Sources: the IANA
special-purpose address registries (RFC 6890 and its successors), RFC 9637 (3fff::/20), RFC 7526 (192.88.99.0/24).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import wait
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.utils.translation import gettext_noop

from config.outbound.deadline import timeout_within_deadline
from config.outbound.resolver import platform_resolver, webhook_resolver

MAX_URL_LENGTH = 2048
RESOLVE_SECONDS = 2.0  # for the name of one connection

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
# Names of this machine, of this network, or outside DNS (RFC 6761, 6762, 7686, 8375, 9476; ICANN for .internal).
_SPECIAL_USE = ("localhost", "localdomain", "local", "internal", "home.arpa", "onion", "alt")

_PRINTABLE = re.compile(r"[\x21-\x7e]*")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<target>[/?].*)?"
)
# No public top-level domain holds a digit unless it is punycode; so 0x7f.1, 2130706433 and 127.1 are no names.
_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])")
_MAX_NAME_LENGTH = 253

# Everything outside 2000::/3 is refused at once: loopback, local, multicast, IPv4-mapped, IPv4-compatible and NAT64.
_ALLOCATED_V6 = IPv6Network("2000::/3")
_REFUSED = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4: carries an IPv4 address
    IPv6Network("3fff::/20"),  # documentation
)
_LOOPBACK_V6 = IPv6Address("::1")


class DestinationNotAllowed(Exception):
    """The exception of the destination check for a URL that must not be connected to; `reason` is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Destination:
    """The destination of an outbound request: scheme, host and port of its URL, with the host in lower case.

    `target` is the rest of the URL: its path and query.
    """

    scheme: str
    host: str
    port: int
    is_ip: bool
    target: str = field(default="", compare=False)


def check_url_without_lookup(url: str) -> Destination:
    """Check the syntax, scheme, host and port of a URL without network access. Raises DestinationNotAllowed.

    It refuses http, ports below 1024 other than 443, IP addresses that are not public, and names that are not public domain
    names. Loopback hosts are exempt if OUTBOUND_ALLOW_LOOPBACK is set. Returns the destination.
    """
    if len(url) > MAX_URL_LENGTH:
        raise DestinationNotAllowed(f"The URL is longer than {MAX_URL_LENGTH} characters.")
    if not _PRINTABLE.fullmatch(url):
        raise DestinationNotAllowed(gettext_noop("The URL holds a space or a character that is not printable ASCII."))
    if "#" in url:
        raise DestinationNotAllowed(gettext_noop("The URL holds a fragment (#)."))
    parts = _URL.fullmatch(url)
    if parts is None:
        raise DestinationNotAllowed(gettext_noop("The URL is not of the form https://host[:port]/path, without credentials."))
    host, is_ip = _canonical_host(parts["host"])
    port = int(parts["port"] or (443 if parts["scheme"] == "https" else 80))
    if port > 65535:
        raise DestinationNotAllowed(gettext_noop("The URL's port is above 65535."))
    destination = Destination(parts["scheme"], host, port, is_ip, parts["target"] or "")
    if not _admitted_loopback(host):
        _require_public_form(destination)
    return destination


def check_urls_with_lookup(urls: Iterable[str], *, seconds: float) -> None:
    """Raise DestinationNotAllowed if a URL that a user entered is invalid, or if its host has a forbidden IP address.

    All names are resolved at once. A name that does not resolve within `seconds` is accepted: connections check again.
    """
    hosts = {destination.host for destination in map(check_url_without_lookup, urls) if not destination.is_ip}
    lookups = {host: webhook_resolver.start_lookup(host) for host in hosts}
    wait(lookups.values(), timeout=timeout_within_deadline(seconds))
    for host, lookup in lookups.items():
        if not lookup.cancel() and lookup.exception() is None:
            require_allowed_addresses(host, lookup.result())


def resolve_and_check_addresses(destination: Destination, *, seconds: float = RESOLVE_SECONDS) -> list[str]:
    """Look up the host of a destination and return its IP addresses, all checked, in order of preference.

    Raises DestinationUnresolved, and DestinationNotAllowed if any address is not allowed.
    """
    if destination.is_ip:
        addresses = [destination.host]
    else:
        addresses = platform_resolver.look_up(destination.host, seconds=seconds)
    require_allowed_addresses(destination.host, addresses)
    return addresses


def require_allowed_addresses(host: str, addresses: list[str]) -> None:
    """Raise DestinationNotAllowed unless outbound requests to all these IP addresses of `host` are allowed.

    Only a loopback host may have loopback addresses, and it may have no others.
    """
    allowed = is_loopback_address if _admitted_loopback(host) else is_public_address
    if not all(allowed(address) for address in addresses):
        raise DestinationNotAllowed(gettext_noop("The URL's host has an address that is not public."))


@lru_cache(maxsize=1000)  # a busy receiver's host is parsed twice for each delivery
def _canonical_host(text: str) -> tuple[str, bool]:
    """Return the host of a destination's URL in canonical form, and whether it is an IP address."""
    try:
        if text.startswith("["):
            return str(IPv6Address(text[1:-1])), True
        return str(IPv4Address(text)), True  # four decimal numbers without leading zeros, nothing else
    except AddressValueError as error:
        if text.startswith("["):
            raise DestinationNotAllowed(gettext_noop("The URL's host is not an IPv6 address.")) from error
        return text.lower(), False


def _require_public_form(destination: Destination) -> None:
    if destination.scheme != "https":
        raise DestinationNotAllowed(gettext_noop("The URL does not begin with https://."))
    if destination.port != 443 and destination.port <= 1023:
        raise DestinationNotAllowed(gettext_noop("The URL's port is neither 443 nor above 1023."))
    if destination.is_ip:
        require_allowed_addresses(destination.host, [destination.host])
    elif not _is_public_name(destination.host):
        raise DestinationNotAllowed(gettext_noop("The URL's host is not a public domain name."))


def _is_public_name(host: str) -> bool:
    return (
        len(host) <= _MAX_NAME_LENGTH
        and _NAME.fullmatch(host) is not None
        and not any(f".{host}".endswith(f".{name}") for name in _SPECIAL_USE)
    )


def _admitted_loopback(host: str) -> bool:
    return settings.OUTBOUND_ALLOW_LOOPBACK and host in LOOPBACK_HOSTS


def is_public_address(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether a destination's IP address is valid, public and not a multicast address."""
    address = _parse_address(ip)
    if address is None or any(address in network for network in _REFUSED):
        return False
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    return address in _ALLOCATED_V6 and address.scope_id is None


def is_loopback_address(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether a destination's IP address is loopback (127.0.0.0/8 or ::1); IPv4-mapped IPv6 addresses are not."""
    address = _parse_address(ip)
    if isinstance(address, IPv4Address):
        return address.is_loopback
    return address == _LOOPBACK_V6


def is_allowed_address(ip: str | IPv4Address | IPv6Address) -> bool:
    """Return whether outbound requests to this IP address are allowed: public, or loopback if the settings allow it."""
    return is_public_address(ip) or (settings.OUTBOUND_ALLOW_LOOPBACK and is_loopback_address(ip))


@lru_cache(maxsize=1000)  # each request checks an address several times
def _parse_address(ip: str | IPv4Address | IPv6Address) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(ip)
    except ValueError:
        return None
