"""What needs a person, on a workspace's home page: lost accounts, posts, webhooks, ending keys and the budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from agents.models import ApiKey
from billing.caps import SpendCapStatus
from config.db.ids import lowest_id_at
from config.pages.templatetags.dashboard import money
from posts.models import PostGroup
from posts.selectors import groups_with_targets
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON, GroupStatus
from webhooks.models import Delivery, DeliveryStatus
from workspaces.workspace_page import WorkspacePage

SHOWN_POSTS = 8
SHOWN_ACCOUNTS = 20
MAX_COUNTED = 99
WEBHOOK_DAYS = 7  # deliveries that were created earlier are not counted
KEY_DAYS = 7  # keys that end later are not shown
NEARLY_SPENT = 0.8  # share of the monthly limit


@dataclass(frozen=True)
class NeedForAttention:
    """A thing in a workspace that needs a person: its state, a sentence, and the page on which to deal with it."""

    state: str
    sentence: str
    address: str
    platforms: tuple[str, ...] = ()
    at: datetime | None = None
    state_in_words: str = ""


def needs_for_attention(page: WorkspacePage, cap: SpendCapStatus) -> list[NeedForAttention]:
    """Return what needs a person in the workspace, first what keeps posts from being published."""
    groups = groups_with_targets().filter(workspace=page.workspace, status__in=GROUP_STATUSES_NEEDING_A_PERSON)
    waiting = list(groups.order_by("-pk")[:SHOWN_POSTS])
    return [
        *_lost_accounts(page),
        *(_post(page, group) for group in waiting if group.status != GroupStatus.PENDING_CONFIRMATION),
        *(_post(page, group) for group in waiting if group.status == GroupStatus.PENDING_CONFIRMATION),
        *_dead_webhooks(page),
        *_ending_keys(page),
        *_budget(page, cap),
    ]


def _lost_accounts(page: WorkspacePage) -> Iterator[NeedForAttention]:
    lost = ConnectedAccount.objects.filter(workspace=page.workspace, status=ConnectedAccount.Status.NEEDS_REAUTH)
    for account in lost.order_by("pk")[:SHOWN_ACCOUNTS]:
        name = f"{platform_label(account.platform)} account {account.handle or account.external_id}"
        sentence = f"{name}: posts to it fail until it is connected again."
        address = page.url_of_page("account", account_id=account.id)
        yield NeedForAttention("needs_reauth", sentence, address, (account.platform,))


def _post(page: WorkspacePage, group: PostGroup) -> NeedForAttention:
    waits = group.status == GroupStatus.PENDING_CONFIRMATION
    named: dict[str, Any] = {} if waits else {"post_group_id": group.id}
    return NeedForAttention(
        group.status,
        group.text[:200] or "(no text)",
        page.url_of_page("approvals" if waits else "post", **named),
        tuple(dict.fromkeys(target.platform for target in group.targets.all())),
        group.created_at,
    )


def _dead_webhooks(page: WorkspacePage) -> Iterator[NeedForAttention]:
    """Yield one entry for the webhook deliveries of the last days that were given up, if there are any."""
    recent = Delivery.objects.filter(pk__gte=lowest_id_at("dlv", timezone.now() - timedelta(days=WEBHOOK_DAYS)))
    dead = recent.filter(workspace=page.workspace, status=DeliveryStatus.DEAD_LETTER)[: MAX_COUNTED + 1].count()
    if dead:
        count = str(dead) if dead <= MAX_COUNTED else f"{MAX_COUNTED}+"
        sentence = f"{count} webhook deliver{'y was' if dead == 1 else 'ies were'} given up this week."
        yield NeedForAttention("dead_letter", sentence, f"{page.url_of_page('webhooks')}?status=dead_letter")


def _ending_keys(page: WorkspacePage) -> Iterator[NeedForAttention]:
    """Yield an entry for each API key that ends within days; a key that is being replaced is left out."""
    if not page.may_manage:
        return
    now = timezone.now()
    current = ApiKey.objects.filter(workspace=page.workspace, revoked_at=None, retiring_since=None).select_related("agent")
    for key in current.filter(expires_at__gt=now, expires_at__lt=now + timedelta(days=KEY_DAYS)).order_by("expires_at")[:5]:
        whose = f"The key of {key.agent.name}" if key.agent else f"The API key “{key.name}”"
        address = page.url_of_page("agent", agent_id=key.agent.id) if key.agent else page.url_of_page("api-keys")
        yield NeedForAttention("retiring", f"{whose} ends soon.", address, at=key.expires_at, state_in_words="Ends soon")


def _budget(page: WorkspacePage, cap: SpendCapStatus) -> Iterator[NeedForAttention]:
    """Yield an entry if the month's budget is nearly spent."""
    limit, used = cap.cap_plus_free_credit_cents or 0, cap.spent_cents + cap.reserved_cents
    if limit and used >= NEARLY_SPENT * limit:
        sentence = f"{money(used)} of this month's {money(limit)} is spent or reserved."
        yield NeedForAttention("partial", sentence, page.url_of_page("usage"), state_in_words="Budget")
