"""The dashboard pages of agents: the list, a new agent, and one agent with its settings, usage, posts, keys and log."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from agents import selectors, services
from agents.models import KEY_ROTATION_OVERLAP_HOURS, Agent, ApiKey
from agents.oauth.addresses import MCP_PATH, resource_url_of_path
from agents.oauth.grants import end_grant_of_agent
from auditlog.selectors import audit_entries_of_workspace
from billing.caps import SpendCapStatus
from billing.selectors import AgentPostCounts, day_and_month_post_counts_of_agent
from billing.usage_selectors import agent_month_usage
from config.api.caller import AgentMode, require_access, require_recent_sign_in
from config.api.errors import ApiError, InvalidState, WebhookUrlNotAllowed
from config.api.webhook_url import check_webhook_hosts
from config.home.agent_form import AgentForm, account_choices
from config.pages.templatetags.dashboard import money
from posts.dashboard.account_marks import AccountMarks
from posts.selectors import search_posts
from posts.services import cancel_post
from posts.states import GroupStatus
from workspaces.workspace_page import (
    WorkspacePage,
    add_api_error_to_form,
    record_refused_write,
    run_once_per_submission,
    workspace_page,
)

CREATE, UPDATE = "agents.create", "agents.update"
SHOWN_POSTS, SHOWN_ENTRIES, SHOWN_KEYS = 5, 10, 5
MAX_CANCELLED_AT_ONCE = 100
PER_PAGE = 50


@workspace_page()
def agent_list(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the workspace's agents, newest first."""
    found = selectors.agents_with_last_use(
        caller=page.caller, workspace_id=page.workspace.id, limit=PER_PAGE, cursor=page.request.GET.get("cursor")
    )
    return page.render(
        "home/agents.html",
        agents=found.rows,
        next_cursor=found.next_cursor,
        mcp_url=resource_url_of_path(MCP_PATH),
        now=timezone.now(),
    )


@workspace_page("GET", "POST", operation=CREATE)
def show_form_or_create_agent(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: create an agent and show once the token by which the agent gets its API key."""
    require_access(page.caller, page.workspace.id, "api_keys.write", write=False)
    require_recent_sign_in(page.caller)
    form = AgentForm(page.request.POST or None, accounts=account_choices(page))
    if page.request.method != "POST":
        return page.render("home/agent_new.html", form=form)
    if not form.is_valid():
        return page.render("home/agent_new.html", form=form, status=422)
    created_agents: list[services.AgentWithClaimToken] = []

    def create() -> Agent:
        owner = page.workspace.owner_user_id
        workspace_id = page.workspace.id
        created_agents.append(
            services.create_agent(
                caller=page.caller, workspace_id=workspace_id, owner_user_id=owner, **form.arguments_for_create_agent
            )
        )
        return created_agents[0].agent

    try:
        _check_webhook_host(page, form.arguments_for_create_agent)
        agent_id, repeated = run_once_per_submission(page, CREATE, create)
    except ApiError as error:
        _add_refusal(page, CREATE, form, error)
        return page.render("home/agent_new.html", form=form, status=error.status)
    if repeated:
        message = _("This agent was already created, and its claim token was shown then. If it is lost, issue a new key.")
        return page.success_redirect(message, "agent", agent_id=agent_id)
    [created] = created_agents
    return page.render(
        "home/agent_created.html",
        agent=created.agent,
        token=created.claim_token,
        expires_at=created.claim_expires_at,
        base_url=settings.BASE_URL,
    )


@workspace_page("GET", "POST", operation=UPDATE)
def show_or_save_agent_settings(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Dashboard page: show an agent with its usage, posts, keys and log; a POST saves its settings."""
    found = selectors.agent_with_key_and_last_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    form = AgentForm(page.request.POST or None, agent=found, accounts=account_choices(page, found.account_allowlist or ()))
    if page.request.method != "POST":
        return _render_agent(page, found, form)
    if not form.is_valid():
        return _render_agent(page, found, form, status=422)
    if not form.changed_arguments_for_update_agent:
        return page.success_redirect(_("Nothing was changed."), "agent", agent_id=found.id)
    try:
        _check_webhook_host(page, form.changed_arguments_for_update_agent)
        services.update_agent(caller=page.caller, agent_id=found.id, **form.changed_arguments_for_update_agent)
    except ApiError as error:
        _add_refusal(page, UPDATE, form, error)
        return _render_agent(page, found, form, status=error.status)
    return page.success_redirect(_("Saved. The change applies from the agent's next request on."), "agent", agent_id=found.id)


@workspace_page("POST", operation="agents.rotate_key")
def rotate_agent_key(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Dashboard page of an agent: rotate its API key and show the new one once; the old one works for some more hours."""
    found = selectors.agent_with_key_and_last_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    issued: list[services.AgentKeyRotation] = []

    def issue() -> ApiKey:
        issued.append(services.rotate_key(caller=page.caller, agent_id=found.id))
        return issued[0].api_key

    repeated = run_once_per_submission(page, "agents.rotate_key", issue)[1]
    if repeated:
        return page.success_redirect(_("This key was already issued and shown."), "agent", agent_id=found.id)
    [rotated] = issued
    return page.render(
        "home/agent_key_rotated.html",
        agent=found,
        api_key=rotated.api_key,
        token=rotated.token,
        retiring_key=rotated.retiring_key,
        overlap_hours=KEY_ROTATION_OVERLAP_HOURS,
        base_url=settings.BASE_URL,
    )


@workspace_page("POST", operation=UPDATE)
def limit_agent_to_dry_runs(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Dashboard page of an agent: stop it by allowing it only dry runs; a checkbox also cancels its scheduled posts.

    An agent that is already stopped or revoked may still have scheduled posts.
    """
    found = selectors.agent_with_key_and_last_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    if found.status == Agent.Status.ACTIVE and found.default_mode != AgentMode.DRY_RUN:
        services.update_agent(caller=page.caller, agent_id=found.id, default_mode=AgentMode.DRY_RUN)
    messages = [_("%(agent)s is stopped.") % {"agent": found.name}]
    if "cancel" in page.request.POST:
        messages.append(_cancel_scheduled(page, found))
    return page.success_redirect(" ".join(messages), "agent", agent_id=found.id)


@workspace_page("POST", operation="agents.revoke")
def revoke_agent(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Dashboard page of an agent: revoke the agent and its API keys for ever."""
    found = selectors.agent_with_key_and_last_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    services.revoke_agent(caller=page.caller, agent_id=found.id)
    return page.success_redirect(_("%(agent)s is revoked. Its keys no longer work.") % {"agent": found.name}, "agents")


@workspace_page("POST", operation="oauth.end_grant")
def end_oauth_access_of_agent(page: WorkspacePage, agent_id: str) -> HttpResponse:
    """Dashboard page of an agent that an OAuth client acts as: end the client's access."""
    found = selectors.agent_with_key_and_last_use(caller=page.caller, workspace_id=page.workspace.id, agent_id=agent_id)
    end_grant_of_agent(caller=page.caller, agent_id=found.id)
    return page.success_redirect(
        _("The connection has ended. The program has no access any more."), "agent", agent_id=found.id
    )


def _cancel_scheduled(page: WorkspacePage, found: Agent) -> str:
    """Cancel up to 100 scheduled posts of an agent; return a message for the dashboard with the result."""
    scheduled = search_posts(
        caller=page.caller,
        workspace_id=page.workspace.id,
        agent_id=found.id,
        status=GroupStatus.SCHEDULED,
        limit=MAX_CANCELLED_AT_ONCE,
    )
    cancelled = 0
    for group in scheduled.rows:
        try:
            cancel_post(caller=page.caller, post_group_id=group.id)
        except InvalidState:  # it is being published now
            continue
        cancelled += 1
    message = _("Cancelled scheduled posts: %(number)s.") % {"number": cancelled}
    more = _("More are left: cancel again.")
    return f"{message} {more}" if scheduled.next_cursor else message


def _render_agent(page: WorkspacePage, found: Agent, form: AgentForm, *, status: int = 200) -> HttpResponse:
    """Render an agent's dashboard page with its usage, latest posts, keys and log entries."""
    now, caller, workspace_id = timezone.now(), page.caller, page.workspace.id
    usage = agent_month_usage(caller=caller, agent_id=found.id, at=now)
    posts = search_posts(caller=caller, workspace_id=workspace_id, agent_id=found.id, limit=SHOWN_POSTS)
    marks = AccountMarks(page)
    keys = selectors.latest_keys_of_agent(caller=caller, agent=found, limit=SHOWN_KEYS) if page.may_manage else []
    counts = day_and_month_post_counts_of_agent(agent_id=found.id, at=now)
    _add_usage_to_help_texts(form, usage.spend_cap, counts)
    return page.render(
        "home/agent.html",
        agent=found,
        form=form,
        usage=usage,
        bar=_budget_bar(
            usage.spend_cap.spent_cents, usage.spend_cap.reserved_cents, usage.spend_cap.spend_limit_cents_or_none
        ),
        counts=counts,
        posts=[(post, marks.marks_of_post(post.targets)) for post in posts.rows],
        sprite=marks.sprite(),
        api_keys=keys,
        entries=audit_entries_of_workspace(caller=caller, workspace_id=workspace_id, actor_id=found.id)[:SHOWN_ENTRIES],
        may_change=page.may_manage and found.status == Agent.Status.ACTIVE,
        stopped=found.default_mode == AgentMode.DRY_RUN or found.status == Agent.Status.REVOKED,
        now=now,
        status=status,
    )


def _add_usage_to_help_texts(form: AgentForm, cap: SpendCapStatus, counts: AgentPostCounts) -> None:
    """On an agent's dashboard page, add the agent's usage so far, such as "3 today.", to the help text of each limit."""
    cents = cap.spent_cents + cap.reserved_cents
    for name, used in (
        ("monthly_spend", _("%(money)s spent or reserved this month.") % {"money": money(cents)}),
        ("posts_per_day_cap", _("%(number)s today.") % {"number": counts.targets_of_day}),
        ("monthly_social_url_post_cap", _("%(number)s this month.") % {"number": counts.url_posts_of_month}),
    ):
        form.fields[name].help_text = f"{form.fields[name].help_text} {used}"


def _budget_bar(spent: int, reserved: int, limit: int | None) -> dict[str, str] | None:
    """Return the budget bar on an agent's page: the percentages `spent` and `used` (spent or reserved); None if unlimited."""
    if limit is None:
        return None
    shares = [min(100.0, 100.0 * cents / limit) if limit else 100.0 for cents in (spent, spent + reserved)]
    return {"spent": f"{shares[0]:.1f}", "used": f"{shares[1]:.1f}"}


def _check_webhook_host(page: WorkspacePage, fields: dict[str, Any]) -> None:
    url = fields.get("webhook_url")
    check_webhook_hosts([url] if url else [], page.caller)


def _add_refusal(page: WorkspacePage, operation: str, form: AgentForm, error: ApiError) -> None:
    record_refused_write(page, operation, error)
    add_api_error_to_form(form, error, field="webhook_url" if isinstance(error, WebhookUrlNotAllowed) else None)
