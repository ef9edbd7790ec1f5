"""The web view that serves the profile pictures of connected accounts to the workspace's signed-in members."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from accounts import selectors
from config.api.errors import ApiError
from workspaces.workspace_page import caller_of_request

CACHE_CONTROL = "private, max-age=31536000, immutable"  # the address contains the digest of the picture


@require_safe
@login_required
def serve_avatar(request: HttpRequest, workspace_id: str, account_id: str, digest: str) -> HttpResponseBase:
    """Web view that serves the profile picture of an account in the workspace; it answers 404 for all other pictures."""
    caller = caller_of_request(request)
    try:
        content = selectors.avatar_content(caller=caller, workspace_id=workspace_id, account_id=account_id, digest=digest)
    except ApiError:
        content = None
    if content is None:
        return HttpResponseNotFound(content_type="text/plain")
    etag = f'"{digest}"'
    headers = {"ETag": etag, "Cache-Control": CACHE_CONTROL, "X-Content-Type-Options": "nosniff"}
    response = HttpResponse(content, content_type="image/webp", headers=headers)
    return get_conditional_response(request, etag=etag, response=response) or response
