"""A webhook receiver for a first try, in development only: it checks each event's signature and says so in the log."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import time

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from webhooks.services.signing_secrets import signing_keys

logger = logging.getLogger("webhook-receiver")
TOLERANCE_SECONDS = 300


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """204 for an event whose signature is right, 401 for anything else."""
    if settings.PRODUCTION or not settings.OUTBOUND_ALLOW_LOOPBACK:
        raise Http404
    event = _verified(request.body, request.headers.get("x-service-signature", ""))
    if event is None:
        logger.warning("An event came whose signature is wrong.")
        return HttpResponse(status=401)
    group = event["data"]["post_group"]
    logger.info("%s arrived, its signature is right: %s is %s.", event["type"], group["id"], group["status"])
    return HttpResponse(status=204)


def _verified(body: bytes, header: str) -> dict | None:
    """The event, when one of the header's signatures is the workspace's and its time is near."""
    pairs = [part.partition("=")[::2] for part in header.split(",")]
    at = next((value for name, value in pairs if name == "t"), "")
    try:
        event = json.loads(body)
        workspace_id = event["workspace_id"]
        if abs(time.time() - int(at)) > TOLERANCE_SECONDS:
            return None
    except (ValueError, KeyError, TypeError):
        return None
    for secret in signing_keys([workspace_id]).get(workspace_id, ()):
        right = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        if any(hmac.compare_digest(right, value) for name, value in pairs if name == "v1"):
            return event
    return None
