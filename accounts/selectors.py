"""Database queries of connected accounts and of the platforms that can be connected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Avatar, ConnectedAccount, ConnectionAttempt
from accounts.platforms.base import Platform
from accounts.platforms.registry import all_adapters
from agents.models import Agent, ApiKey
from billing.subscription_plans import billing_capabilities
from config.api.caller import Caller, require_access
from config.api.errors import missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.db.ids import is_id
from workspaces.models import User


def page_of_accounts(
    *, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None, **filters: Any
) -> Page[ConnectedAccount]:
    """Account query: return a page of the accounts connected to the workspace. Raises ScopeMissing, NotFound.

    Disconnected accounts are left out.
    """
    return paginate_newest_first(_connected(caller, workspace_id, **filters), limit=limit, cursor=cursor)


def sandbox_accounts(*, caller: Caller, workspace_id: str) -> list[ConnectedAccount]:
    """Account query: return the workspace's sandbox accounts, ordered by platform. Raises ScopeMissing, NotFound."""
    return list(_connected(caller, workspace_id, sandbox=True).order_by("platform", "pk"))


def _connected(caller: Caller, workspace_id: str, **filters: Any) -> QuerySet[ConnectedAccount]:
    require_access(caller, workspace_id, "accounts.read", write=False)
    rows = ConnectedAccount.objects.filter(workspace_id=workspace_id, **filters)
    return rows.exclude(status=ConnectedAccount.Status.DISCONNECTED)


def accounts_to_reconnect_now_or_soon(*, workspace_id: str, before: datetime) -> QuerySet[ConnectedAccount]:
    """Account query: return the accounts that a person must reconnect now, then those to reconnect before a time.

    The access of the latter ends before that time and, as in `ConnectedAccount.access_cannot_be_renewed`, for good.
    """
    cannot_be_renewed = Q(refresh_at=None) | Q(refresh_at__gte=F("token_expires_at"), refresh_failures=0)
    ends = Q(cannot_be_renewed, token_expires_at__gt=timezone.now(), token_expires_at__lt=before)
    status = ConnectedAccount.Status
    wanted = Q(status=status.NEEDS_REAUTH) | Q(ends, status=status.ACTIVE)
    return ConnectedAccount.objects.filter(wanted, workspace=workspace_id).order_by("-status", "token_expires_at", "pk")


def platform_by_account_id(*, workspace_id: str, account_ids: Iterable[str]) -> dict[str, str]:
    """Account query: return a dict from account id to platform, for those given accounts that belong to the workspace."""
    rows = ConnectedAccount.objects.filter(workspace_id=workspace_id, pk__in=list(account_ids))
    return dict(rows.values_list("pk", "platform"))


def avatar_content(*, caller: Caller, workspace_id: str, account_id: str, digest: str) -> bytes | None:
    """Account query: return the picture (WebP) of a workspace's account; None if no picture has this digest.

    Raises NotFound, ScopeMissing.
    """
    require_access(caller, workspace_id, "accounts.read", write=False)
    accounts = Avatar.objects.filter(account__workspace_id=workspace_id, account__avatar_digest=digest)
    content = accounts.filter(pk=account_id).values_list("content", flat=True).first()
    return bytes(content) if content else None


def get_accessible_account(*, caller: Caller, account_id: str, scope: str, write: bool) -> ConnectedAccount:
    """Account query: return the account with this id, if the caller may use it. Raises NotFound, ScopeMissing."""
    account = ConnectedAccount.objects.filter(pk=account_id).first() if is_id(account_id, "acc") else None
    if account is None:
        raise missing_or_foreign_id_error(None, "account")
    require_access(caller, account.workspace_id, scope, write=write, noun="account")
    return account


def describe_who_began_connection(attempt: ConnectionAttempt) -> str:
    """Account query: return in words which agent, API key or person began an OAuth connection attempt."""
    if attempt.actor_kind == "agent":
        name = Agent.objects.filter(pk=attempt.actor_id).values_list("name", flat=True).first()
        return _("the agent “%(name)s”") % {"name": name}
    if attempt.actor_kind == "api_key":
        key = ApiKey.objects.filter(pk=attempt.actor_id).first()
        named = {"name": key.name, "prefix": key.prefix} if key else {}
        return _("the API key “%(name)s” (%(prefix)s…)") % named if key else _("an API key")
    return str(User.objects.filter(pk=attempt.actor_id).first() or _("a person"))


def connection_method_requirements(platform: Platform, method: str) -> dict[str, Any]:
    """Account query: return what a method of connecting accounts requires from the account's owner and from the operator.

    The operator of the service registers the applications; each includes its complete redirect URI.
    """
    applications = [
        {**asdict(each), "redirect_uri": settings.BASE_URL + each.redirect_path}
        for each in platform.setup.required_applications_for_method(method)
    ]
    return {"owner_brings": platform.setup.owner_brings[method], "applications": applications}


def platform_methods_and_billing_capabilities() -> dict[str, Any]:
    """Account query: return all platforms' connection methods, available or not, and the service's billing capabilities."""
    connections = [_connection(each, method) for each in all_adapters() for method in each.methods]
    return {"account_connections": connections, "billing": billing_capabilities()}


def _connection(platform: Platform, method: str) -> dict[str, Any]:
    reason = platform.unavailable_reason(method)
    shown: dict[str, Any] = {
        "provider": platform.name,
        "method": method,
        "available": reason is None,
        "not_possible": platform.capabilities.not_possible,
        "operator_setup": connection_method_requirements(platform, method),
    }
    if reason:
        shown["reason"] = reason
    schema = platform.credentials_schema if method == "credentials" else platform.oauth_input_schema
    if schema is not None:
        shown["credentials_schema"] = schema
    return shown
