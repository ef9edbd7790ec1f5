"""Creates checkout and portal pages at the payment processor. Callers choose only the plan, never prices or URLs."""

from __future__ import annotations

from auditlog.services import record_entry
from billing import processor
from billing.errors import BillingUnavailable
from billing.processor import CheckoutOrPortalPage
from billing.subscription_plans import has_payment_processor, offered_subscription_plans
from config.api.caller import Caller, require_role
from config.api.errors import ValidationFailed
from config.api.plan import ResourcePlan, accept_plan
from config.api.request_limits import limit_outbound_threads_and_seconds
from workspaces.models import Workspace
from workspaces.processor_customers import save_customer_id_if_unset


def create_checkout_or_portal_session(
    *, caller: Caller, workspace_id: str, plan: str, dry_run: bool = False
) -> CheckoutOrPortalPage:
    """Create a checkout page for a caller who has chosen a plan; a portal page if a subscription is already running.

    Raises UserSessionRequired, Forbidden, WorkspacePaused, BillingUnavailable, RateLimited, and ValidationFailed
    (workspace_id, plan), PlanChanged.
    """
    workspace = _require_billing_access(caller, workspace_id)
    if plan not in offered_subscription_plans():
        raise ValidationFailed.for_field(
            "plan", f"Must be one of {', '.join(offered_subscription_plans()) or 'no plans'}.", "unavailable"
        )
    _check_session_plan("billing.create_checkout_session", workspace, {"plan": plan})
    session = CheckoutOrPortalPage(None, None)
    if not dry_run:
        with limit_outbound_threads_and_seconds(workspace_id, operator_chosen=True):
            session = _checkout_or_portal(workspace, plan)
    _record(caller, "billing.create_checkout_session", workspace_id, dry_run, plan=plan)
    return session


def create_portal_session(*, caller: Caller, workspace_id: str, dry_run: bool = False) -> CheckoutOrPortalPage:
    """Create a portal page for a caller who may see the workspace's bills: it shows invoices and payment methods.

    A workspace that is no customer there becomes one. A dry run creates nothing and returns a page without id and URL.
    Raises UserSessionRequired, Forbidden, WorkspacePaused, BillingUnavailable, RateLimited, and ValidationFailed
    (workspace_id), PlanChanged.
    """
    workspace = _require_billing_access(caller, workspace_id)
    _check_session_plan("billing.create_portal_session", workspace, {})
    session = CheckoutOrPortalPage(None, None)
    if not dry_run:
        with limit_outbound_threads_and_seconds(workspace_id, operator_chosen=True):
            session = processor.create_portal_session(workspace_id, _customer_of(workspace))
    _record(caller, "billing.create_portal_session", workspace_id, dry_run)
    return session


def _checkout_or_portal(workspace: Workspace, plan: str) -> CheckoutOrPortalPage:
    is_customer = bool(workspace.processor_customer_id)
    customer_id = _customer_of(workspace)
    if is_customer and any(state.has_started_and_not_ended for state in processor.fetch_subscriptions(customer_id)):
        return processor.create_portal_session(workspace.pk, customer_id)
    return processor.create_checkout_session(workspace.pk, customer_id, plan)


def _check_session_plan(operation: str, workspace: Workspace, wanted: dict[str, str]) -> None:
    """Check the Plan-Hash of a request for a checkout or portal page; the subscription decides which page it is."""
    is_customer = bool(workspace.processor_customer_id)
    accept_plan(ResourcePlan(operation, workspace.id, {"customer": is_customer}, {"customer": True, **wanted}))


def _require_billing_access(caller: Caller, workspace_id: str) -> Workspace:
    """Return the workspace for a checkout or portal page if its owner or admin asks. Raises BillingUnavailable."""
    require_role(caller, workspace_id, "owner", "admin", body_field="workspace_id")
    if not has_payment_processor():
        raise BillingUnavailable()
    return Workspace.objects.get(pk=workspace_id)


def _customer_of(workspace: Workspace) -> str:
    """Return the id of the workspace's customer at the payment processor; creates the customer at the first call."""
    if workspace.processor_customer_id:
        return workspace.processor_customer_id
    customer_id = processor.create_customer(workspace.pk, workspace.name)
    return save_customer_id_if_unset(workspace_id=workspace.pk, customer_id=customer_id)


def _record(caller: Caller, operation: str, workspace_id: str, dry_run: bool, **metadata: str) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        resource_type="workspace",
        resource_id=workspace_id,
        dry_run=dry_run,
        metadata=metadata,
    )
