"""The console's front page, its actions, and their audit entries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from auditlog.services import record_entry
from billing.models import BillingAlarm, LedgerEntry, MonthCounter
from config.api.caller import system_caller
from config.api.models import IdempotencyRecord
from config.console import status
from tests import factories
from tests.console.console_rows import MONTH, make_group
from tests.console.operators import act, console_audit_entries
from tests.people import console
from tests.webhooks.rows import emit, make_delivery
from webhooks.models import Delivery
from workspaces.models import User, Workspace

FRONT = "/admin/"


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def follow(operator: Client, path: str, **query: str) -> str:
    """Return the redirect's target."""
    return str(operator.get(path, query)["Location"])


def messages_after(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


def test_tables_of_libraries_are_folded_away_at_the_end(operator: Client) -> None:
    page = operator.get(FRONT)
    own, folded = page.content.decode().split('<details class="library">')

    labels = {app["app_label"] for app in page.context["library_tables"]}
    assert labels == {"admin", "axes", "django_celery_beat", "social_django"}
    assert all(f"app-{label} " not in own and f"app-{label} " in folded for label in labels)
    assert "app-posts " in own
    assert "app-posts " not in folded


def test_the_front_page_shows_the_services_status_with_few_queries(
    operator: Client, workspace: Workspace, account: ConnectedAccount
) -> None:
    now = timezone.now()
    late, dead = (make_delivery(workspace, "https://receiver.example/") for _ in range(2))
    Delivery.objects.filter(pk=late.pk).update(due_at=now - timedelta(seconds=90))
    dead.mark_dead_letter_unsaved(now)
    dead.save()
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")
    BillingAlarm.objects.create(kind="books", subject=f"{workspace.id} 2027-03", detail="The month differs.")
    status.record_heartbeat("deliver")
    with CaptureQueriesContext(connection) as asked:
        page = operator.get(FRONT)
    html = page.content.decode()

    assert len(asked) <= 20
    queue = next(each for each in page.context["duties"] if each.duty == "deliver")
    assert (queue.due, 90 <= queue.late_seconds < 120, queue.alive) == (1, True, True)
    assert [page.context[name] for name in ("dead_letters", "accounts_needing_reauth", "ledger_drift_months")] == [1, 1, 1]
    for words in ("The month differs.", "no heartbeat yet", f"{queue.late_seconds:.0f} s", "?status=dead_letter"):
        assert words in html
    for link in ("webhooks_delivery", "accounts_connectedaccount", "billing_billingalarm"):
        assert reverse(f"admin:{link}_changelist") in html


def test_the_lists_that_the_front_page_links_to_contain_the_rows_it_counts(
    operator: Client, workspace: Workspace, account: ConnectedAccount
) -> None:
    row = make_delivery(workspace, "https://receiver.example/")
    row.mark_dead_letter_unsaved(timezone.now())
    row.save()
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")
    alarm = BillingAlarm.objects.create(kind="books", detail="The month differs.")
    BillingAlarm.objects.create(kind="books", detail="It was.", resolved_at=timezone.now())
    for path, found in (
        ("webhooks/delivery/?status=dead_letter", row),
        ("accounts/connectedaccount/?status__exact=needs_reauth", account),
        ("billing/billingalarm/?kind__exact=books&resolved_at__isempty=1", alarm),
    ):
        assert path.replace("&", "&amp;") in operator.get(FRONT).content.decode()
        assert list(operator.get(f"/admin/{path}").context["cl"].result_list) == [found]


def test_the_search_redirects_ids_to_rows_and_traces_to_their_page(operator: Client, workspace: Workspace) -> None:
    group = make_group(workspace, factories.AccountFactory.create(workspace=workspace), 7)
    find = reverse("admin:find")
    record_entry(caller=system_caller(workspace.id), operation="x", resource_type="post_group", resource_id=group.id)
    AuditEntry.objects.update(trace_id=group.trace_id)
    event = emit(workspace, "https://receiver.example/", post_group_id=group.id)

    assert operator.get(find, {"q": f" {group.id} "}, follow=True).context["original"] == group
    html = operator.get(follow(operator, find, q=group.trace_id)).content.decode()
    for row in (group, event, event.deliveries.get(), AuditEntry.objects.get()):
        assert row.pk in html
    assert operator.get(reverse("admin:trace", args=["anything"])).status_code == 404


def test_retention_shows_expired_rows_and_runs_after_confirmation(operator: Client) -> None:
    over = timezone.now() - timedelta(days=2)
    IdempotencyRecord.objects.create(id="1" * 64, operation="posts.create", fingerprint="", expires_at=over)
    page = operator.get(reverse("admin:run-retention"))

    assert page.context["found"].rows["idempotency_records"] == 1
    assert IdempotencyRecord.objects.exists()
    assert "Deleted: idempotency_records 1." in messages_after(operator.post(reverse("admin:run-retention"), follow=True))
    assert not IdempotencyRecord.objects.exists()
    assert console_audit_entries() == [("ops.run_retention", "", "", None)]


def test_billing_is_reconciled_after_confirmation(operator: Client, workspace: Workspace) -> None:
    MonthCounter.objects.create(holder_id=workspace.id, month=MONTH, held_cents=5)
    operator.get(reverse("admin:reconcile-billing"))
    assert console_audit_entries() == []
    message = messages_after(operator.post(reverse("admin:reconcile-billing"), follow=True))

    assert "Months that drift: 1." in message
    assert BillingAlarm.objects.get().kind == "books"
    assert not LedgerEntry.objects.exists()
    assert console_audit_entries() == [("ops.reconcile_billing", "", "", None)]


def test_staff_who_are_not_superusers_cannot_start_actions(operator: Client) -> None:
    User.objects.filter(username="operator").update(is_superuser=False)

    for name in ("run-retention", "reconcile-billing"):
        assert operator.post(reverse(f"admin:{name}")).status_code == 403
    assert operator.get(reverse("admin:trace", args=["0" * 32])).context["tables"] == []
    assert console_audit_entries() == []


@pytest.fixture
def task(db: None) -> PeriodicTask:
    every_minute = IntervalSchedule.objects.create(every=60, period="seconds")
    return PeriodicTask.objects.create(name="run-retention", task="config.wake", interval=every_minute)


def changes() -> list[tuple[str, str, str, Any]]:
    entries = AuditEntry.objects.filter(operation__startswith="console.").order_by("pk")
    return list(entries.values_list("operation", "resource_type", "resource_id", "metadata"))


def test_each_change_of_the_schedule_is_audited(operator: Client, task: PeriodicTask) -> None:
    path = reverse("admin:django_celery_beat_periodictask_change", args=[task.pk])
    page = operator.get(path)
    assert "The service resets this schedule" in messages_after(page)
    form = page.context["adminform"].form
    fields = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "", False)}
    fields.pop("enabled")
    answer = operator.post(path, fields)
    task.refresh_from_db()

    assert (answer.status_code, task.enabled) == (302, False)
    [message] = act(operator, "enable_tasks", task, query="?enabled__exact=0")
    task.refresh_from_db()

    assert "1 task was successfully enabled" in message
    assert task.enabled
    assert changes() == [
        ("console.change", "periodictask", str(task.pk), {"changes": [{"changed": {"fields": ["Enabled"]}}]}),
        ("console.change", "periodictask", str(task.pk), {"changes": "Action enable_tasks."}),
    ]
    assert {entry[0] for entry in console_audit_entries()} == {"console.change"}


def test_adding_and_deleting_a_schedule_is_audited(operator: Client, task: PeriodicTask) -> None:
    table = "/admin/django_celery_beat/periodictask"
    fields = {"name": "more", "task": "config.wake", "interval": task.interval_id, "args": "[]", "kwargs": "{}"}
    operator.post(f"{table}/add/", {**fields, "headers": "{}"})
    made = PeriodicTask.objects.get(name="more")
    operator.post(f"{table}/{made.pk}/delete/", {"post": "yes"})

    assert not PeriodicTask.objects.filter(name="more").exists()
    assert [entry[:3] for entry in changes()] == [
        ("console.add", "periodictask", str(made.pk)),
        ("console.delete", "periodictask", str(made.pk)),
    ]


def test_djangos_own_log_names_a_schedule_in_english(operator: Client, task: PeriodicTask) -> None:
    User.objects.filter(username="operator").update(language="de")
    operator.post(f"/admin/django_celery_beat/periodictask/{task.pk}/delete/", {"post": "yes"})

    assert LogEntry.objects.get().object_repr == "run-retention: every 60 seconds"


def test_tasks_cannot_be_run_from_the_console_without_a_broker(operator: Client, task: PeriodicTask, settings: Any) -> None:
    for url, offered in (("", False), ("redis://127.0.0.1:1/0", True)):
        settings.REDIS_URL = url
        page = operator.get("/admin/django_celery_beat/periodictask/")

        assert ("run_tasks" in page.content.decode()) == offered


def test_deleting_failed_attempts_unlocks_a_name(operator: Client) -> None:
    User.objects.create_superuser("forgetful", "quite the right password")
    login, browser = "/admin/login/", Client()
    for password in (*["a wrong one"] * settings.AXES_FAILURE_LIMIT, "quite the right password"):
        answer = browser.post(login, {"username": "forgetful", "password": password})
    assert answer.status_code == 429
    chosen = list(AccessAttempt.objects.values_list("pk", flat=True))
    delete = {"action": "delete_selected", "_selected_action": chosen}
    assert "Are you sure" in operator.post("/admin/axes/accessattempt/", delete).content.decode()
    operator.post("/admin/axes/accessattempt/", {**delete, "post": "yes"})

    assert browser.post(login, {"username": "forgetful", "password": "quite the right password"}).status_code == 302
    assert [entry[:2] for entry in changes()] == [("console.delete", "accessattempt")] * len(chosen)
