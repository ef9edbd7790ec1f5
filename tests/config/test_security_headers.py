"""Security headers on every kind of answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from auditlog.models import AuditEntry
from config.pages.security_headers import allowed_storage_origins
from tests.fakes.openid import FakeOpenIdProvider
from tests.people import as_user
from tests.workspaces.browsers import use_provider
from workspaces.models import User

PASSWORD = "correct horse battery staple"
INLINE = re.compile(
    r"<script(?![^>]*\b(?:src=|type=.application/json))[^>]*>|<style|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE
)


@pytest.fixture
def operator(db: None, settings: Any) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the others are slow, as they should be
    return User.objects.create_superuser("operator", PASSWORD)


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeOpenIdProvider]:
    with FakeOpenIdProvider() as standing:
        standing.add_person("alice")
        use_provider(settings, standing)
        yield standing


@pytest.fixture
def console(operator: User) -> Client:
    browser = Client()
    browser.force_login(operator)
    return browser


def directives(answer: Any) -> dict[str, str]:
    return dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/dashboard/sign-in", 200),
        ("/dashboard/nowhere", 404),
        ("/dashboard/workspaces/wrk_x", 302),
        ("/admin/login/", 200),
        ("/docs", 200),
    ],
)
def test_pages_allow_no_inline_code_and_no_frames(db: None, path: str, status: int) -> None:
    answer = Client().get(path)
    policy = directives(answer)

    assert answer.status_code == status
    assert policy["default-src"] == "'self'"  # scripts, styles and connections among them
    assert (policy["frame-ancestors"], policy["base-uri"], policy["object-src"]) == ("'none'", "'none'", "'none'")
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]
    assert not INLINE.findall(answer.content.decode())


def test_no_console_page_uses_inline_code(console: Client) -> None:
    index = console.get("/admin/").content.decode()
    pages = ["/admin/", *sorted(set(re.findall(r'href="(/admin/[a-z_]+/[a-z_]+/(?:add/)?)"', index)))]

    assert len(pages) > 20
    found = {}
    for page in pages:
        answer = console.get(page)
        assert directives(answer)["default-src"] == "'self'"
        if inline := INLINE.findall(answer.content.decode()):
            found[page] = inline
    assert found == {}


def test_the_api_documentation_loads_only_own_files(client: Client, settings: Any) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    page = client.get("/docs").content.decode()
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    sources.remove("/openapi.json")  # the link for browsers without scripts

    assert len(sources) >= 4
    for source in sources:
        assert source.startswith(("/static/", "/docs"))
        assert client.get(source.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("path", ["/openapi.json", "/capabilities", "/nowhere", "/healthz"])
def test_responses_other_than_html_may_load_nothing(db: None, client: Client, path: str) -> None:
    answer = client.get(path)

    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


def test_the_error_for_a_too_long_body_has_security_headers(db: None) -> None:
    answer = Client().post("/posts", b"x" * 1_000_001, content_type="application/json")

    assert answer.status_code == 413
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_form_action_allows_other_sites_only_on_pages_that_redirect_there(owner: User, workspace: Any, settings: Any) -> None:
    browser, base = Client(), f"/dashboard/workspaces/{workspace.id}"
    browser.force_login(owner)
    targets = {
        path: directives(browser.get(path))["form-action"]
        for path in (base, f"{base}/members", f"{base}/accounts", f"{base}/usage", "/dashboard/sign-in", "/admin/login/")
    }

    assert set(targets.values()) == {"'self'", "'self' https:"}
    assert [path for path, target in targets.items() if target != "'self'"] == [
        f"{base}/accounts",
        f"{base}/usage",
        "/dashboard/sign-in",
    ]
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    assert "http://127.0.0.1:*" in directives(browser.get("/dashboard/sign-in"))["form-action"]


@pytest.mark.parametrize(
    ("options", "origins"),
    [
        ({}, []),
        ({"bucket_name": "b"}, ["https://*.amazonaws.com"]),
        (
            {"bucket_name": "b", "endpoint_url": "https://s3.example.com:9000/x"},
            ["https://s3.example.com:9000", "https://b.s3.example.com:9000"],
        ),
    ],
)
def test_images_may_be_loaded_from_the_file_storage(options: dict[str, str], origins: list[str]) -> None:
    assert allowed_storage_origins(options) == origins


def test_https_responses_have_strict_transport_security(db: None, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = 31_536_000, True
    for path in ("/dashboard/sign-in", "/nowhere", "/openapi.json"):
        answer = Client().get(path, secure=True)
        assert answer["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "counted"),
    [
        ("203.0.113.9", "", ["127.0.0.1"], "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", ["127.0.0.1"], "203.0.113.9"),
        ("127.0.0.1", "198.51.100.1", ["127.0.0.1"], "198.51.100.1"),
        ("127.0.0.1", "10.0.0.1, 198.51.100.1", ["127.0.0.1"], "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1, 10.0.0.7", ["127.0.0.1", "10.0.0.0/8"], "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1:4711", ["127.0.0.1"], "198.51.100.1"),
        ("::1", "[2001:db8::7]:443", ["::1"], "2001:db8::7"),
        ("127.0.0.1", "unknown", ["127.0.0.1"], "127.0.0.1"),
        ("", "198.51.100.1", ["127.0.0.1"], "198.51.100.1"),
        ("192.0.2.1", "10.0.0.1, 198.51.100.1", ["*"], "198.51.100.1"),
    ],
)
def test_the_clients_address_is_the_one_that_trusted_proxies_report(
    owner: User, settings: Any, peer: str, forwarded: str, proxies: list[str], counted: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    client = as_user(owner)
    client.http.defaults["REMOTE_ADDR"] = peer
    client.post("/workspaces", {"owner_user_id": owner.id, "name": "W", "dry_run": True}, x_forwarded_for=forwarded)

    assert AuditEntry.objects.get().ip == counted
