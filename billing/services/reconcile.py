"""The nightly look at the payment processor's truth and at the books; what is found differs is mended or an alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from django.utils import timezone

from billing import selectors
from billing.errors import BillingUnavailable, NotAtProcessor
from billing.models import BillingAlarm
from billing.plans import is_paid
from billing.services.alarms import Kind, raise_alarm, resolve_alarms, resolve_others
from billing.services.subscriptions import OutrunError, refresh_subscription
from billing.services.usage_truth import reconcile_usage
from workspaces.customers import customer_workspaces

NIGHT_HOUR = 3  # UTC
EACH = 100
Say = Callable[[str], None]


def _silent(line: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Reconciled:
    """What a look found: subscriptions that had changed unseen, customers whose usage differs, months that drift."""

    workspaces: int = 0
    subscriptions_changed: int = 0
    usage_differences: int = 0
    drifting_months: int = 0
    complete: bool = True

    def __str__(self) -> str:
        return ", ".join(f"{field.name} {getattr(self, field.name)}" for field in fields(self))


def reconcile_at_night() -> Reconciled | None:
    """For the beat, each hour: a look in the night's hour, or in any while the last one could not be finished."""
    unfinished = BillingAlarm.objects.filter(kind=Kind.RECONCILIATION, resolved_at=None).exists()
    return reconcile() if unfinished or timezone.now().hour == NIGHT_HOUR else None


def reconcile(say: Say = _silent) -> Reconciled:
    """Look at everything: each customer's subscription, the reported usage, the books. `say` hears how far it is.

    A processor that does not answer ends its part of the look, which is an alarm until a look is complete.
    """
    workspaces = changed = differences = 0
    complete = True
    if is_paid():
        try:
            workspaces, changed = reconcile_subscriptions(say)
            differences = reconcile_usage(say)
            resolve_alarms(Kind.RECONCILIATION, [""])
        except BillingUnavailable:
            complete = False
            raise_alarm(Kind.RECONCILIATION, "", "The processor does not answer; the look is taken up in an hour.")
    return Reconciled(workspaces, changed, differences, check_books(say), complete)


def reconcile_subscriptions(say: Say = _silent) -> tuple[int, int]:
    """Read every known customer's subscription anew; returns how many there are and how many had changed unseen.

    Raises BillingUnavailable.
    """
    looked_at = changed = 0
    last = ""
    while rows := list(customer_workspaces(deleted=False).filter(pk__gt=last)[:EACH]):
        for workspace in rows:
            try:
                customer_id = workspace.processor_customer_id
                changed += refresh_subscription(workspace_id=workspace.pk, customer_id=customer_id)
                resolve_alarms(Kind.CUSTOMER, [workspace.pk])
            except NotAtProcessor:
                raise_alarm(Kind.CUSTOMER, workspace.pk, f"The processor does not know the customer {customer_id}.")
            except OutrunError:  # by events that told the same
                continue
        looked_at, last = looked_at + len(rows), rows[-1].pk
        say(f"Subscriptions: {looked_at} workspaces, {changed} had changed.")
    resolve_others(Kind.EVENTS, [])  # what they told is known now
    return looked_at, changed


def check_books(say: Say = _silent) -> int:
    """Compare counters and ledger; returns how many months differ, each of them an alarm until it does not.

    Two looks, since money that moves between the statements of one makes it see what is not there.
    """
    first = selectors.drift()
    again = selectors.drift() if first else []
    wrong = [found for found in first if found in again]
    for found in wrong:
        detail = f"The month's counter says {_figures(found.counter)}, its ledger {_figures(found.ledger)}."
        raise_alarm(Kind.BOOKS, f"{found.holder_id} {found.month:%Y-%m}", detail)
    resolve_others(Kind.BOOKS, [f"{found.holder_id} {found.month:%Y-%m}" for found in wrong])
    say(f"Books: {len(wrong)} months differ.")
    return len(wrong)


def _figures(amounts: selectors.Amounts) -> str:
    return f"held {amounts.held_cents}, settled {amounts.settled_cents}, URL posts {amounts.url_posts}"
