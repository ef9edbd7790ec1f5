"""Creates rows for tests of billing, and reads counters."""

from __future__ import annotations

from datetime import UTC, datetime

from agents.models import Agent
from billing.models import DayCounter, MonthCounter, UsageTotal
from billing.prices import PublishingCharge
from config.api.caller import AgentMode
from config.db.ids import new_id
from workspaces.models import User, Workspace

MARCH = datetime(2027, 3, 10, 12, tzinfo=UTC)
APRIL = datetime(2027, 4, 2, 12, tzinfo=UTC)


def make_workspace(*, free: int = 100, cap: int = 0, url_cap: int = 0) -> Workspace:
    name = new_id("usr")
    return Workspace.objects.create(
        name="Acme",
        slug=name.replace("_", "-"),
        owner_user=User.objects.create_user(name),
        free_monthly_credit_cents=free,
        monthly_spend_cap_cents=cap,
        monthly_social_url_post_cap=url_cap,
    )


def make_agent(
    workspace: Workspace, *, cap: int | None = None, url_cap: int | None = None, day_cap: int | None = None
) -> Agent:
    return Agent.objects.create(
        workspace=workspace,
        owner_user=workspace.owner_user,
        name="Herald",
        default_mode=AgentMode.ALLOW_PUBLISH,
        monthly_spend_cap_cents=cap,
        monthly_social_url_post_cap=url_cap,
        posts_per_day_cap=day_cap,
    )


def charges(*targets: str, cents: int = 10, url_posts: int = 0, platform: str = "sandbox") -> list[PublishingCharge]:
    return [PublishingCharge(target, platform, cents, url_posts) for target in targets]


def month_of(holder: Workspace | Agent, at: datetime = MARCH) -> tuple[int, int, int]:
    """Return (held, settled, url posts) of the holder's month."""
    rows = MonthCounter.objects.filter(holder_id=holder.pk, month=at.date().replace(day=1))
    return rows.values_list("held_cents", "settled_cents", "url_posts").first() or (0, 0, 0)


def day_of(agent: Agent, at: datetime = MARCH) -> int:
    return DayCounter.objects.filter(agent_id=agent.pk, day=at.date()).values_list("targets", flat=True).first() or 0


def totals() -> list[tuple[str, str, int, int, int, int]]:
    """Return (agent, platform, published, failed, url posts, spent) of every usage total."""
    columns = ("agent_id", "platform", "published", "failed", "url_posts", "spend_cents")
    return list(UsageTotal.objects.order_by("agent_id", "platform").values_list(*columns))
