"""What needs a person, on a workspace's home page: lost accounts, posts, webhooks, ending access and the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from accounts.selectors import accounts_to_reconnect_now_or_soon
from agents.models import ApiKey
from billing.caps import SpendCapStatus
from config.db.ids import lowest_id_at
from config.notices.models import NoticeChannel
from config.pages.templatetags.dashboard import money
from posts.dashboard.account_marks import HasPlatformAndAccountId
from posts.models import PostGroup
from posts.selectors import groups_prefetching_targets, recently_missed_post_ids
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON, GroupStatus
from webhooks.models import Delivery, DeliveryStatus
from workspaces.workspace_page import WorkspacePage

SHOWN_POSTS = 8
SHOWN_ACCOUNTS = 20
MAX_COUNTED = 99
DAYS_OF_DEAD_WEBHOOKS = 7  # deliveries that were created earlier are not counted
DAYS_BEFORE_END = 7  # keys, and access to accounts, that end later are not shown
NEARLY_SPENT = 0.8  # share of the monthly limit


class PlatformAndAccountId(NamedTuple):
    """The platform and the id of an account that a need for attention is about, to show the account's picture."""

    platform: str
    account_id: str


@dataclass(frozen=True)
class NeedForAttention:
    """A thing in a workspace that needs a person: its state, a sentence, and the page on which to deal with it.

    The marks of the accounts of `targets` are shown before the sentence.
    """

    state: str
    sentence: str
    address: str
    targets: Iterable[HasPlatformAndAccountId] = ()
    at: datetime | None = None
    state_in_words: str = ""


def needs_for_attention(page: WorkspacePage, cap: SpendCapStatus) -> list[NeedForAttention]:
    """Return what needs a person in the workspace, first what keeps posts from being published."""
    missed = recently_missed_post_ids(workspace_id=page.workspace.id)
    groups = groups_prefetching_targets().filter(workspace=page.workspace, status__in=GROUP_STATUSES_NEEDING_A_PERSON)
    waiting = list(groups.exclude(pk__in=missed).order_by("-pk")[:SHOWN_POSTS])
    before = timezone.now() + timedelta(days=DAYS_BEFORE_END)
    accounts = list(accounts_to_reconnect_now_or_soon(workspace_id=page.workspace.id, before=before)[:SHOWN_ACCOUNTS])
    return [
        *(_lost_account(page, account) for account in accounts if account.status != ConnectedAccount.Status.ACTIVE),
        *_missed_posts(page, len(missed)),
        *(_post(page, group) for group in waiting if group.status != GroupStatus.PENDING_CONFIRMATION),
        *(_post(page, group) for group in waiting if group.status == GroupStatus.PENDING_CONFIRMATION),
        *_dead_webhooks(page),
        *_refused_channels(page),
        *(_account_with_ending_access(page, each) for each in accounts if each.status == ConnectedAccount.Status.ACTIVE),
        *_ending_keys(page),
        *_budget(page, cap),
    ]


def _lost_account(page: WorkspacePage, account: ConnectedAccount) -> NeedForAttention:
    sentence = _("%(platform)s account %(account)s: posts to it fail until it is connected again.") % _named(account)
    address = page.url_of_page("account", account_id=account.id)
    return NeedForAttention("needs_reauth", sentence, address, [PlatformAndAccountId(account.platform, account.id)])


def _account_with_ending_access(page: WorkspacePage, account: ConnectedAccount) -> NeedForAttention:
    return NeedForAttention(
        "retiring",
        _("%(platform)s account %(account)s: its access ends soon. Connect it again before then.") % _named(account),
        _address_to_reconnect(page, account),
        [PlatformAndAccountId(account.platform, account.id)],
        account.token_expires_at,
        _("Ends soon"),
    )


def _named(account: ConnectedAccount) -> dict[str, str]:
    return {"platform": platform_label(account.platform), "account": account.handle or account.external_id}


def _address_to_reconnect(page: WorkspacePage, account: ConnectedAccount) -> str:
    """Return the address of the page to connect an account again or, for members who may not, of the account's page."""
    if page.may_manage:
        return page.url_of_page("account-connect", platform_name=account.platform)
    return page.url_of_page("account", account_id=account.id)


def _post(page: WorkspacePage, group: PostGroup) -> NeedForAttention:
    waits = group.status == GroupStatus.PENDING_CONFIRMATION
    named: dict[str, Any] = {} if waits else {"post_group_id": group.id}
    return NeedForAttention(
        group.status,
        group.text[:200] or _("(no text)"),
        page.url_of_page("approvals" if waits else "post", **named),
        group.targets.all(),
        group.created_at,
    )


def _missed_posts(page: WorkspacePage, count: int) -> Iterator[NeedForAttention]:
    """Yield a NeedForAttention for the home page if posts missed their times, with the page to send or leave them."""
    if count:
        sentence = ngettext(
            "1 post has missed its time, because the service was down or stopped. Send it now, or leave it.",
            "%(number)s posts have missed their times, because the service was down or stopped. "
            "Send them now, or leave them.",
            count,
        ) % {"number": _counted(count)}
        yield NeedForAttention("failed", sentence, page.url_of_page("missed"), state_in_words=_("Missed"))


def _counted(number: int) -> str:
    return str(number) if number <= MAX_COUNTED else f"{MAX_COUNTED}+"


def _dead_webhooks(page: WorkspacePage) -> Iterator[NeedForAttention]:
    """Yield a NeedForAttention for the home page if webhook deliveries were given up in the last days."""
    recent = Delivery.objects.filter(pk__gte=lowest_id_at("dlv", timezone.now() - timedelta(days=DAYS_OF_DEAD_WEBHOOKS)))
    dead = recent.filter(workspace=page.workspace, status=DeliveryStatus.DEAD_LETTER)[: MAX_COUNTED + 1].count()
    if dead:
        sentence = ngettext(
            "%(number)s webhook delivery was given up this week.",
            "%(number)s webhook deliveries were given up this week.",
            dead,
        ) % {"number": _counted(dead)}
        yield NeedForAttention("dead_letter", sentence, f"{page.url_of_page('webhooks')}?status=dead_letter")


def _refused_channels(page: WorkspacePage) -> Iterator[NeedForAttention]:
    """Yield a NeedForAttention for the home page for each notice channel paused because its receiver refuses all notices."""
    if not page.may_manage:
        return
    paused = NoticeChannel.objects.filter(workspace=page.workspace, paused_at__isnull=False).exclude(pause_reason="")
    for channel in paused.order_by("paused_at"):
        sentence = _("Notices no longer reach the channel %(name)s.") % {"name": channel.name}
        address = page.url_of_page("notice-channels")
        yield NeedForAttention(
            "failed", f"{sentence} {channel.pause_reason}", address, at=channel.paused_at, state_in_words=_("Paused")
        )


def _ending_keys(page: WorkspacePage) -> Iterator[NeedForAttention]:
    """Yield a NeedForAttention for the home page for each API key that ends within days and is not being replaced."""
    if not page.may_manage:
        return
    now = timezone.now()
    current = ApiKey.objects.filter(workspace=page.workspace, revoked_at=None, retiring_since=None).select_related("agent")
    for key in current.filter(expires_at__gt=now, expires_at__lt=now + timedelta(days=DAYS_BEFORE_END)).order_by(
        "expires_at"
    )[:5]:
        sentence = _("The key of %(name)s ends soon.") if key.agent else _("The API key “%(name)s” ends soon.")
        address = page.url_of_page("agent", agent_id=key.agent.id) if key.agent else page.url_of_page("api-keys")
        yield NeedForAttention(
            "retiring",
            sentence % {"name": (key.agent or key).name},
            address,
            at=key.expires_at,
            state_in_words=_("Ends soon"),
        )


def _budget(page: WorkspacePage, cap: SpendCapStatus) -> Iterator[NeedForAttention]:
    """Yield a NeedForAttention for the home page if the month's budget is nearly spent."""
    limit, used = cap.spend_limit_cents_or_none or 0, cap.spent_cents + cap.reserved_cents
    if limit and used >= NEARLY_SPENT * limit:
        sentence = _("%(used)s of this month's %(limit)s is spent or reserved.") % {
            "used": money(used),
            "limit": money(limit),
        }
        yield NeedForAttention("partial", sentence, page.url_of_page("usage"), state_in_words=_("Budget"))
