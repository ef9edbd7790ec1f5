"""Dashboard pages that list connected accounts and show one account, and actions that check or disconnect an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from accounts import selectors, services
from accounts.dashboard.capabilities_in_words import capabilities_in_words
from accounts.dashboard.obstacles import connection_obstacle_sentence_or_none
from accounts.dashboard.option_names import option_display_name
from accounts.dashboard.slots_in_words import slots_in_words
from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.registry import all_adapters, get_adapter
from config.api.errors import missing_or_foreign_id_error
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50


@dataclass(frozen=True)
class ShownAccount:
    """A connected account as the dashboard's account pages show it, together with the name of its platform."""

    row: ConnectedAccount
    label: str

    @property
    def name(self) -> str:
        """Return the name that dashboard pages show for an account: its handle, display name or id at the platform."""
        return self.row.handle or self.row.display_name or self.row.external_id


@workspace_page()
def account_list(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the workspace's connected accounts with their status, and the platforms that can be added."""
    caller, workspace_id = page.caller, page.workspace.id
    cursor = page.request.GET.get("cursor")
    found = selectors.page_of_accounts(caller=caller, workspace_id=workspace_id, limit=PER_PAGE, cursor=cursor, sandbox=False)
    sandbox = selectors.sandbox_accounts(caller=caller, workspace_id=workspace_id)
    obstacles = [(each, _obstacle(each)) for each in all_adapters()]
    return page.render(
        "accounts/accounts.html",
        accounts=[_shown(row) for row in found.rows],
        next_cursor=found.next_cursor,
        sandbox=[_shown(row) for row in sandbox],
        sandbox_open=not found.rows or any(row.status != ConnectedAccount.Status.ACTIVE for row in sandbox),
        offered=[each for each, obstacle in obstacles if obstacle is None],
        not_offered=[
            (each, obstacle, selectors.connection_method_requirements(each, each.methods[0]))
            for each, obstacle in obstacles
            if obstacle is not None
        ],
    )


@workspace_page()
def account_details(page: WorkspacePage, account_id: str) -> HttpResponse:
    """Dashboard page that shows one connected account with the limits of its platform for posts."""
    row = workspace_account_or_404(page, account_id)
    capabilities = get_adapter(row.platform).capabilities_for(row.id_limits_and_scopes())
    return page.render(
        "accounts/account.html",
        account=_shown(row),
        capabilities=capabilities_in_words(capabilities),
        not_possible=capabilities.not_possible,
        options=_options(capabilities.options),
        slots=slots_in_words(row),
    )


@workspace_page("POST", operation="accounts.status")
def check_account_now(page: WorkspacePage, account_id: str) -> HttpResponse:
    """Dashboard action that asks the platform whether the credentials of a connected account still work."""
    row = services.verify_and_update_account(caller=page.caller, account_id=workspace_account_or_404(page, account_id).id)
    named = {"platform": _shown(row).label, "account": _shown(row).name}
    if row.status == ConnectedAccount.Status.ACTIVE:
        return page.success_redirect_back(_("The %(platform)s account %(account)s works.") % named)
    message = _("The %(platform)s account %(account)s does not let us in any more: connect it again.") % named
    return page.success_redirect_back(message)


@workspace_page("POST", operation="accounts.disconnect")
def disconnect_account(page: WorkspacePage, account_id: str) -> HttpResponse:
    """Dashboard action that disconnects an account: deletes its stored secrets, and revokes its access at the platform."""
    row = services.disconnect_account(caller=page.caller, account_id=workspace_account_or_404(page, account_id).id)
    named = {"platform": _shown(row).label, "account": _shown(row).name}
    return page.success_redirect(_("The %(platform)s account %(account)s is disconnected.") % named, "accounts")


def workspace_account_or_404(page: WorkspacePage, account_id: str) -> ConnectedAccount:
    """Return the connected account that a dashboard page shows. Raises NotFound for an account of another workspace."""
    row = selectors.get_accessible_account(caller=page.caller, account_id=account_id, scope="accounts.read", write=False)
    if row.workspace_id != page.workspace.id:
        raise missing_or_foreign_id_error(None, "account")
    return row


def _shown(row: ConnectedAccount) -> ShownAccount:
    return ShownAccount(row, get_adapter(row.platform).label)


def _obstacle(each: Platform) -> str | None:
    """Return why the accounts page cannot offer to connect accounts of this platform; None if it can offer that."""
    reasons = [connection_obstacle_sentence_or_none(each, method) for method in each.methods]
    return None if None in reasons else reasons[0]


def _options(schema: Any) -> list[tuple[str, str]]:
    """Return the names and descriptions of the platform options of an account's posts, for the account's dashboard page."""
    rules = schema.get("properties", {}).items()
    return [(option_display_name(name), _(rule.get("description", ""))) for name, rule in rules]
