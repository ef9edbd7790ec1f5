"""Which IP addresses outbound requests may connect to."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from pytest_django import Settings

from config.outbound.destinations import is_allowed_address, is_loopback_address, is_public_address

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "192.0.1.1", "223.255.255.254", "2606:4700:4700::1111", "2a00:1450::1"]

NOT_PUBLIC = [
    pytest.param(address, id=f"{kind} {address}")
    for kind, addresses in {
        "this network": ["0.0.0.1", "0.1.2.3", "0.255.255.255"],
        "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
        "shared (CGNAT)": ["100.64.0.1", "100.127.255.255"],
        "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
        "link-local": ["169.254.0.1", "169.254.169.254", "fe80::1"],
        "protocol": ["192.0.0.1", "192.0.0.8", "192.0.0.192", "192.88.99.1", "2001::1", "2001:1ff::1"],
        "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff::1"],
        "benchmark": ["198.18.0.1", "198.19.255.255"],
        "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
        "reserved": ["240.0.0.1", "255.255.255.255", "4000::1", "5f00::1", "fec0::1"],
        "unspecified": ["::"],
        "unique local": ["fc00::1", "fd12:3456::1"],
        "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:8.8.8.8"],
        "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8"],
        "NAT64": ["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"],
        "6to4": ["2002:7f00:1::1", "2002:808:808::1"],
        "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
        "discard": ["100::1"],
        "scoped": ["fe80::1%eth0", "2606:4700:4700::1111%1"],
        "no address": ["", "example.com", "127.1", "0x7f.0.0.1", "127.0.0.01", "2130706433", "127。0。0。1"],
    }.items()
    for address in addresses
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public_address(address) is True
    assert is_public_address(ip_address(address)) is True


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_are_not_public(address: str) -> None:
    assert is_public_address(address) is False


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_addresses_are_recognized(address: str) -> None:
    assert is_loopback_address(address) is True
    assert is_loopback_address(ip_address(address)) is True


@pytest.mark.parametrize("address", ["128.0.0.1", "::2", "::ffff:127.0.0.1", "::127.0.0.1", "::1%1", "localhost", ""])
def test_similar_addresses_are_not_loopback(address: str) -> None:
    assert is_loopback_address(address) is False


@pytest.mark.parametrize(
    ("address", "without_loopback", "with_loopback"),
    [("8.8.8.8", True, True), ("127.0.0.1", False, True), ("::1", False, True), ("10.0.0.1", False, False)],
)
def test_loopback_is_allowed_only_by_the_setting(
    settings: Settings, address: str, without_loopback: bool, with_loopback: bool
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    assert is_allowed_address(address) is without_loopback

    settings.OUTBOUND_ALLOW_LOOPBACK = True
    assert is_allowed_address(address) is with_loopback
