"""Which URLs outbound requests may use, by their syntax and by the addresses of their host."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from config.outbound import DestinationNotAllowed, check_url_without_lookup, check_urls_with_lookup
from config.outbound.destinations import Destination
from tests.config.outbound_servers import Names

PUBLIC_ADDRESS = "93.184.215.14"

TAKEN = [
    ("https://example.com", "example.com", 443),
    ("https://example.com/", "example.com", 443),
    ("https://example.com?a=1", "example.com", 443),
    ("https://Example.COM/Hook?a=b&c=%20@x\\y", "example.com", 443),
    ("https://example.com:443/", "example.com", 443),
    ("https://example.com:1024/", "example.com", 1024),
    ("https://example.com:65535/", "example.com", 65535),
    ("https://a-b.c1.example.co.uk/", "a-b.c1.example.co.uk", 443),
    ("https://1and1.com/", "1and1.com", 443),
    ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443),
    ("https://example.xn--p1ai/", "example.xn--p1ai", 443),
    ("https://mylocalhost.com/", "mylocalhost.com", 443),
    ("https://local.example.com/", "local.example.com", 443),
    ("https://example.com/" + "a" * 2028, "example.com", 443),
]

REFUSED = [
    pytest.param(url, id=f"{kind} {url[:60]!r}")
    for kind, urls in {
        "scheme": [
            "",
            "example.com",
            "http://example.com/",
            "HTTPS://example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "//example.com/",
            "https:/example.com/",
            "https:example.com",
            " https://example.com/",
            "javascript:alert(1)//https://example.com",
        ],
        "character": [
            "https://example.com/a b",
            "https://example.com/\n",
            "https://example.com/\x00",
            "https://exämple.com/",
            "https://127。0。0。1/",
            "https://example.com/é",
            "https://ⓛocalhost/",
        ],
        "fragment": ["https://example.com/#x", "https://example.com#@127.0.0.1/"],
        "authority": [
            "https://",
            "https:///path",
            "https://user@example.com/",
            "https://user:secret@example.com/",
            "https://127.0.0.1\\@example.com/",
            "https://example.com\\@127.0.0.1/",
            "https:\\\\example.com/",
            "https://loc%61lhost/",
            "https://example.com%2f@127.0.0.1/",
            "https://exam_ple.com/",
            "https://*.example.com/",
            "https://[::1/",
            "https://::1/",
            "https://[fe80::1%25eth0]/",
            "https://[example.com]/",
            "https://[2606:4700::1]x/",
        ],
        "port": [
            "https://example.com:/",
            "https://example.com:0/",
            "https://example.com:22/",
            "https://example.com:80/",
            "https://example.com:0443/",
            "https://example.com:1023/",
            "https://example.com:65536/",
            "https://example.com:+443/",
            "https://example.com:443:443/",
        ],
        "name": [
            "https://localhost/",
            "https://LOCALHOST/",
            "https://foo.localhost/",
            "https://printer.local/",
            "https://metadata.google.internal/",
            "https://router.home.arpa/",
            "https://abc.onion/",
            "https://intranet/",
            "https://example.com./",
            "https://.example.com/",
            "https://example..com/",
            "https://-a.example.com/",
            "https://a-.example.com/",
            f"https://{'a' * 64}.example.com/",
            f"https://{'a.' * 126}example/",
        ],
        "numeric host": [
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0x7f000001/",
            "https://127.1/",
            "https://127.0.0.0x1/",
            "https://0177.0.0.1/",
            "https://127.0.0.01/",
            "https://8.8.8/",
            "https://8.8.8.8.8/",
            "https://example.1/",
            "https://example.0x1/",
        ],
        "address": [
            "https://127.0.0.1/",
            "https://10.0.0.1/",
            "https://100.64.0.1/",
            "https://169.254.169.254/latest/meta-data/",
            "https://192.168.0.1:8443/",
            "https://0.0.0.0/",
            "https://224.0.0.1/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:8.8.8.8]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::8.8.8.8]/",
            "https://[2002:808:808::1]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
        ],
        "length": ["https://example.com/" + "a" * 2029],
    }.items()
    for url in urls
]


@pytest.fixture(autouse=True)
def _public_only(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False


@pytest.mark.parametrize(("url", "host", "port"), TAKEN)
def test_https_urls_with_public_names_are_accepted(url: str, host: str, port: int) -> None:
    assert check_url_without_lookup(url) == Destination("https", host, port, is_ip=False)


@pytest.mark.parametrize(
    ("url", "host"), [("https://8.8.8.8/", "8.8.8.8"), ("https://[2606:4700:4700:0::1111]/", "2606:4700:4700::1111")]
)
def test_public_ip_addresses_are_accepted(url: str, host: str) -> None:
    assert check_url_without_lookup(url) == Destination("https", host, 443, is_ip=True)


@pytest.mark.parametrize("url", REFUSED)
def test_other_urls_are_refused_with_a_reason(url: str) -> None:
    with pytest.raises(DestinationNotAllowed) as refused:
        check_url_without_lookup(url)

    assert refused.value.reason.startswith("The URL")
    assert refused.value.reason.endswith(".")


@pytest.mark.parametrize("url", REFUSED)
def test_the_loopback_setting_allows_only_loopback(settings: Settings, url: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    if url in {"https://localhost/", "https://LOCALHOST/", "https://127.0.0.1/", "https://[::1]/"}:
        assert check_url_without_lookup(url).host in {"localhost", "127.0.0.1", "::1"}
        return

    with pytest.raises(DestinationNotAllowed):
        check_url_without_lookup(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8001/x", Destination("http", "127.0.0.1", 8001, is_ip=True)),
        ("http://127.0.0.1", Destination("http", "127.0.0.1", 80, is_ip=True)),
        ("https://127.0.0.1:22/", Destination("https", "127.0.0.1", 22, is_ip=True)),
        ("http://[::1]:1/", Destination("http", "::1", 1, is_ip=True)),
        ("http://localhost:8001/", Destination("http", "localhost", 8001, is_ip=False)),
        ("https://localhost/", Destination("https", "localhost", 443, is_ip=False)),
    ],
)
def test_the_setting_allows_loopback_over_http_on_any_port(settings: Settings, url: str, expected: Destination) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    assert check_url_without_lookup(url) == expected

    settings.OUTBOUND_ALLOW_LOOPBACK = False
    with pytest.raises(DestinationNotAllowed):
        check_url_without_lookup(url)


@pytest.mark.parametrize("url", ["http://127.0.0.2/", "https://127.0.0.2/", "http://127.1/", "http://a.localhost/"])
def test_the_setting_allows_no_other_loopback_host(settings: Settings, url: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True

    with pytest.raises(DestinationNotAllowed):
        check_url_without_lookup(url)


def test_a_name_with_public_addresses_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, [PUBLIC_ADDRESS, "2606:4700::1"])

    check_urls_with_lookup(["https://hooks.example.com/x"], seconds=5)

    assert names.lookups == ["hooks.example.com"]


def test_a_name_that_does_not_resolve_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [])

    check_urls_with_lookup(["https://not-yet.example.com/x"], seconds=5)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.1"], [PUBLIC_ADDRESS, "10.0.0.1"], ["169.254.169.254", PUBLIC_ADDRESS], ["fe80::1%eth0"]],
)
def test_a_name_with_one_address_that_is_not_public_is_refused(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> None:
    Names(monkeypatch, addresses)

    with pytest.raises(DestinationNotAllowed, match="an address that is not public"):
        check_urls_with_lookup(["https://hooks.example.com/x"], seconds=5)


def test_an_ip_address_is_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, ["10.0.0.1"])

    check_urls_with_lookup([f"https://{PUBLIC_ADDRESS}/"], seconds=5)

    assert names.lookups == []


def test_a_public_name_of_loopback_is_refused_even_if_loopback_is_allowed(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    Names(monkeypatch, ["127.0.0.1"])

    with pytest.raises(DestinationNotAllowed):
        check_urls_with_lookup(["https://hooks.example.com/x"], seconds=5)
    check_urls_with_lookup(["http://localhost:8001/x"], seconds=5)


def test_localhost_may_have_loopback_addresses_only(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    Names(monkeypatch, ["127.0.0.1", PUBLIC_ADDRESS])

    with pytest.raises(DestinationNotAllowed):
        check_urls_with_lookup(["http://localhost/"], seconds=5)
