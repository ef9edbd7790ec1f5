"""Signatures of deliveries, verified by independent code."""

from __future__ import annotations

import hashlib
import hmac
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import requests
import stripe
from django.conf import settings

from tests.fakes.http_server import ReceivedRequest
from tests.fakes.receiver import Receiver
from tests.until import wait_until
from tests.webhooks.rows import emit
from tests.webhooks.sending import deliver_until_idle
from webhooks import signing
from webhooks.models import SigningSecret
from workspaces.models import Workspace


def delivered(workspace: Workspace, receiver: Receiver) -> tuple[ReceivedRequest, str]:
    """A received delivery and the secret that signed it."""
    emit(workspace, receiver.url)
    deliver_until_idle()
    return receiver.requests[-1], SigningSecret.objects.get(pk=workspace.pk).secret


def test_a_secret_is_256_random_bits_behind_its_prefix() -> None:
    first, second = signing.new_signing_secret(), signing.new_signing_secret()

    assert re.fullmatch(r"whsec_[0-9A-Za-z]{43}", first)
    assert first != second


def test_a_precomputed_signature() -> None:
    # printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_test
    digest = "35495024f4ef3f94e5a93e22221544c4b75e9a42300cd965ab81cb85cd994e91"

    assert signing.signature_header_value(["whsec_test"], b"{}", at=1_700_000_000) == f"t=1700000000,v1={digest}"


def test_each_secret_has_its_signature_in_the_order_given() -> None:
    header = signing.signature_header_value(["new", "old"], b"{}", at=1)

    one, other = (signing.signature_header_value([key], b"{}", at=1) for key in ("new", "old"))
    assert header == f"{one},{other.removeprefix('t=1,')}"


def test_a_delivery_verifies_with_hmac_over_the_raw_body(workspace: Workspace, receiver: Receiver) -> None:
    request, secret = delivered(workspace, receiver)

    match = re.fullmatch(r"t=(\d{10}),v1=([0-9a-f]{64})", request.headers["x-service-signature"])
    assert match
    signed = match[1].encode() + b"." + request.body
    assert hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() == match[2]


def test_a_delivery_verifies_with_a_payment_processors_library(workspace: Workspace, receiver: Receiver) -> None:
    request, secret = delivered(workspace, receiver)

    assert stripe.WebhookSignature.verify_header(
        request.body.decode(), request.headers["x-service-signature"], secret, tolerance=300
    )


def test_a_delivery_verifies_with_openssl(workspace: Workspace, receiver: Receiver) -> None:
    openssl = shutil.which("openssl")
    assert openssl
    request, secret = delivered(workspace, receiver)

    time, _, digest = request.headers["x-service-signature"].partition(",")
    command = [openssl, "dgst", "-sha256", "-hmac", secret, "-r"]
    signed = time.removeprefix("t=").encode() + b"." + request.body
    answer = subprocess.run(command, input=signed, capture_output=True, check=True)
    assert answer.stdout.decode().split()[0] == digest.removeprefix("v1=")


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def example() -> Iterator[str]:
    """The address of the receiver in the documentation, which runs with the secret `whsec_test`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environ = {"SIGNING_SECRET": "whsec_test"}
    command = [sys.executable, str(settings.BASE_DIR / "docs/webhook_receiver.py"), str(port)]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) as program:
        wait_until(lambda: listens(port))
        yield f"http://127.0.0.1:{port}/"
        program.terminate()


def test_the_receiver_in_the_documentation_verifies_signatures(example: str) -> None:
    body = b'{"id": "evt_1", "type": "post.published", "data": {"post_group": {"status": "published"}}}'

    def answer(header: str) -> int:
        with requests.Session() as session:
            return session.post(example, body, headers={"x-service-signature": header}, timeout=10).status_code

    now = int(time.time())
    right = signing.signature_header_value(["whsec_test"], body, at=now)
    both = signing.signature_header_value(["whsec_new", "whsec_test"], body, at=now)
    old = signing.signature_header_value(["whsec_test"], body, at=now - 400)
    foreign = signing.signature_header_value(["whsec_other"], body, at=now)

    assert [answer(header) for header in (right, both)] == [204, 204]
    assert [answer(header) for header in (old, foreign, "", "t=,v1=", "t=x,v1=\u00e9")] == [401] * 5
