"""POST /posts with a webhook address: it has to be public."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient, ServeNames
from tests.fakes.name_server import Records
from tests.posts.rows import body_for


@pytest.mark.parametrize("url", ["https://10.0.0.1/", "http://example.com/", "https://a:b@example.com/", "ftp://x"])
def test_a_webhook_url_with_a_private_address_is_refused(api: ApiClient, account: ConnectedAccount, url: str) -> None:
    answer = api.post("/posts", body_for(account, webhook_url=url))

    assert_envelope(answer, 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert not PostGroup.objects.exists()


def test_a_webhook_host_that_resolves_to_a_private_address_is_refused(
    api: ApiClient, account: ConnectedAccount, name_server: ServeNames
) -> None:
    name_server(lambda name: Records(["10.0.0.1"]))

    answer = api.post("/posts", body_for(account, webhook_url="https://inside.example.com/"))

    assert_envelope(answer, 422, "WEBHOOK_URL_NOT_ALLOWED")
    assert not PostGroup.objects.exists()


def test_a_webhook_host_is_not_resolved_for_a_key_without_scope(
    key_with: Any, account: ConnectedAccount, name_server: ServeNames
) -> None:
    server = name_server(lambda name: Records(["10.0.0.1"]))

    answer = key_with("posts.read").post("/posts", body_for(account, webhook_url="https://inside.example.com/"))

    assert_envelope(answer, 403, "SCOPE_MISSING")
    assert server.lookups == []
