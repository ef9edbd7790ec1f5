"""The pages of agents: the list, a new agent, one agent with its use, posts, keys and log, and the ways to stop it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform
from agents import selectors, services
from agents.dashboard.forms import AgentForm
from agents.models import OVERLAP_HOURS, Agent, ApiKey
from auditlog.selectors import entries_of
from billing.selectors import AgentCounts, SpendCap, agent_counts, agent_usage_of
from config.api.caller import Mode, require, require_recent_sign_in
from config.api.errors import ApiError, InvalidState, WebhookUrlNotAllowed
from config.api.webhook_url import check_webhook_hosts
from config.pages.templatetags.dashboard import money
from posts.selectors import accounts_to_choose, search_posts
from posts.services import cancel_post
from posts.states import GroupStatus
from workspaces.frame import WorkspacePage, once, put_errors, refuse, workspace_page

CREATE, UPDATE = "agents.create", "agents.update"
SHOWN_POSTS, SHOWN_ENTRIES, SHOWN_KEYS = 5, 10, 5
CANCELLED_AT_ONCE = 100
PER_PAGE = 50


@workspace_page()
def agents(page: WorkspacePage) -> HttpResponse:
    """The workspace's agents, the newest first."""
    found = selectors.agents_with_use(
        caller=page.caller,
        workspace_id=page.workspace.id,
        limit=PER_PAGE,
        cursor=page.request.GET.get("cursor"),
    )
    return page.render("home/agents.html", agents=found.rows, next_cursor=found.next_cursor, now=timezone.now())


@workspace_page("GET", "POST", operation=CREATE)
def new_agent(page: WorkspacePage) -> HttpResponse:
    """The form for a new agent; its answer shows the claim token, which no page shows again."""
    require(page.caller, page.workspace.id, "api_keys.write", write=False)
    require_recent_sign_in(page.caller)
    form = AgentForm(page.request.POST or None, accounts=_choices(page))
    if page.request.method != "POST":
        return page.render("home/agent_new.html", form=form)
    if not form.is_valid():
        return page.render("home/agent_new.html", form=form, status=422)
    made: list[services.AgentCreated] = []

    def create() -> Agent:
        owner = page.workspace.owner_user_id
        workspace_id = page.workspace.id
        made.append(
            services.create_agent(caller=page.caller, workspace_id=workspace_id, owner_user_id=owner, **form.settings)
        )
        return made[0].agent

    try:
        _check_webhook_host(page, form.settings)
        agent_id, repeated = once(page, CREATE, create)
    except ApiError as error:
        _show_refusal(page, CREATE, form, error)
        return page.render("home/agent_new.html", form=form, status=error.status)
    if repeated:
        told = "This agent was made already, and its claim token was shown then. If nobody kept it, issue a new key."
        return page.done(told, "agent", agent_id=agent_id)
    [created] = made
    return page.render(
        "home/agent_created.html",
        agent=created.agent,
        token=created.claim_token,
        expires_at=created.claim_expires_at,
        base_url=settings.BASE_URL,
    )


@workspace_page("GET", "POST", operation=UPDATE)
def agent(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """One agent; the form of its settings comes here too."""
    found = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    form = AgentForm(page.request.POST or None, agent=found, accounts=_choices(page, found.account_allowlist or ()))
    if page.request.method != "POST":
        return _shown(page, found, form)
    if not form.is_valid():
        return _shown(page, found, form, status=422)
    if not form.changes:
        return page.done("Nothing was changed.", "agent", agent_id=found.id)
    try:
        _check_webhook_host(page, form.changes)
        services.update_agent(caller=page.caller, agent_id=found.id, **form.changes)
    except ApiError as error:
        _show_refusal(page, UPDATE, form, error)
        return _shown(page, found, form, status=error.status)
    return page.done("Saved. It holds from the agent's next request on.", "agent", agent_id=found.id)


@workspace_page("POST", operation="agents.rotate_key")
def rotate(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Issue the agent a new key; the answer shows it, which no page shows again."""
    found = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    issued: list[services.KeyRotated] = []

    def issue() -> ApiKey:
        issued.append(services.rotate_key(caller=page.caller, agent_id=found.id))
        return issued[0].api_key

    _, repeated = once(page, "agents.rotate_key", issue)
    if repeated:
        return page.done("That key was made already, and was shown then.", "agent", agent_id=found.id)
    [rotated] = issued
    return page.render(
        "home/agent_key_rotated.html",
        agent=found,
        api_key=rotated.api_key,
        token=rotated.token,
        retiring_key=rotated.retiring_key,
        overlap_hours=OVERLAP_HOURS,
        base_url=settings.BASE_URL,
    )


@workspace_page("POST", operation=UPDATE)
def stop(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Let the agent do nothing but dry runs, and take back what it has scheduled if the form says so.

    One that is stopped or revoked already may still have posts to be taken back.
    """
    found = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    if found.status == Agent.Status.ACTIVE and found.default_mode != Mode.DRY_RUN:
        services.update_agent(caller=page.caller, agent_id=found.id, default_mode=Mode.DRY_RUN)
    told = [f"{found.name} is stopped."]
    if "cancel" in page.request.POST:
        told.append(_cancel_scheduled(page, found))
    return page.done(" ".join(told), "agent", agent_id=found.id)


@workspace_page("POST", operation="agents.revoke")
def revoke(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """End the agent and its keys for good."""
    found = selectors.agent_with_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    services.revoke_agent(caller=page.caller, agent_id=found.id)
    return page.done(f"{found.name} is revoked: its keys open nothing any more.", "agents")


def _cancel_scheduled(page: WorkspacePage, found: Agent) -> str:
    """Cancel the agent's scheduled posts, a hundred at the most; says what came of it."""
    scheduled = search_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        agent_id=found.id,
        status=GroupStatus.SCHEDULED,
        limit=CANCELLED_AT_ONCE,
    )
    cancelled = 0
    for group in scheduled.rows:
        try:
            cancel_post(caller=page.caller, post_group_id=group.id)
        except InvalidState:  # it goes out at this moment
            continue
        cancelled += 1
    told = f"Scheduled posts that were cancelled: {cancelled}."
    return f"{told} More are left: cancel once more." if scheduled.next_cursor else told


def _shown(page: WorkspacePage, found: Agent, form: AgentForm, *, status: int = 200) -> HttpResponse:
    now, caller, workspace_id = timezone.now(), page.caller, page.workspace.id
    usage = agent_usage_of(caller=caller, agent_id=found.id, at=now)
    posts = search_posts(caller=caller, workspace_id=workspace_id, agent_id=found.id, limit=SHOWN_POSTS)
    keys = selectors.keys_of_agent(caller=caller, agent=found, limit=SHOWN_KEYS) if page.may_write else []
    counts = agent_counts(agent_id=found.id, at=now)
    _tell_use(form, usage.spend_cap, counts)
    return page.render(
        "home/agent.html",
        agent=found,
        form=form,
        usage=usage,
        bar=_bar(usage.spend_cap.spent_cents, usage.spend_cap.reserved_cents, usage.spend_cap.limit_cents),
        counts=counts,
        posts=posts.rows,
        api_keys=keys,
        entries=entries_of(caller=caller, workspace_id=workspace_id, actor_id=found.id)[:SHOWN_ENTRIES],
        may_change=page.may_write and found.status == Agent.Status.ACTIVE,
        stopped=found.default_mode == Mode.DRY_RUN or found.status == Agent.Status.REVOKED,
        now=now,
        status=status,
    )


def _tell_use(form: AgentForm, standing: SpendCap, counts: AgentCounts) -> None:
    """Beside each cap, what of it is used."""
    cents = standing.spent_cents + standing.reserved_cents
    for name, used in (
        ("monthly_spend", f"{money(cents)} spent or held this month."),
        ("posts_per_day_cap", f"{counts.targets_of_day} today."),
        ("monthly_social_url_post_cap", f"{counts.url_posts_of_month} this month."),
    ):
        form.fields[name].help_text = f"{form.fields[name].help_text} {used}"


def _bar(spent: int, held: int, limit: int | None) -> dict[str, str] | None:
    """What is spent, and what is spent or held, of a bar of 100; None without a cap."""
    if limit is None:
        return None
    shares = [min(100.0, 100.0 * cents / limit) if limit else 100.0 for cents in (spent, spent + held)]
    return {"spent": f"{shares[0]:.1f}", "used": f"{shares[1]:.1f}"}


def _check_webhook_host(page: WorkspacePage, fields: dict[str, Any]) -> None:
    url = fields.get("webhook_url")
    check_webhook_hosts([url] if url else [], page.caller)


def _show_refusal(page: WorkspacePage, operation: str, form: AgentForm, error: ApiError) -> None:
    refuse(page, operation, error)
    put_errors(form, error, field="webhook_url" if isinstance(error, WebhookUrlNotAllowed) else None)


def _choices(page: WorkspacePage, chosen: list[str] | tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The accounts to choose from, by id and name; those that are chosen already stay, whatever became of them."""
    rows = accounts_to_choose(caller=page.caller, workspace_id=page.workspace.id, chosen=chosen)
    named = {row.id: _named(row) for row in rows}
    return list(({each: f"An account that is gone ({each})" for each in chosen} | named).items())


def _named(account: ConnectedAccount) -> str:
    sandbox = " (sandbox)" if account.sandbox else ""
    gone = " (disconnected)" if account.status == ConnectedAccount.Status.DISCONNECTED else ""
    return f"{platform(account.platform).label}: {account.handle or account.external_id}{sandbox}{gone}"
