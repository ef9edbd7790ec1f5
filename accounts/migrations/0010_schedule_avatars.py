import random
from datetime import timedelta

from django.db import migrations
from django.utils import timezone

BATCH = 1000
SPREAD = timedelta(days=7)  # as long as the interval at which pictures are fetched again


def schedule_avatars_of_connected_accounts(apps, schema_editor):
    """Schedule fetching the pictures of the accounts that are connected already, in batches. It may be repeated.

    The fetches are spread over a week, so that platforms are not asked for all accounts at once.
    """
    accounts, avatars = apps.get_model("accounts", "ConnectedAccount"), apps.get_model("accounts", "Avatar")
    connected = accounts.objects.filter(sandbox=False).exclude(status="disconnected").order_by("pk")
    now, last = timezone.now(), ""
    while ids := list(connected.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        rows = [avatars(account_id=pk, due_at=now + random.random() * SPREAD) for pk in ids]
        avatars.objects.bulk_create(rows, ignore_conflicts=True)
        last = ids[-1]


class Migration(migrations.Migration):
    """Schedules the first fetch of pictures outside a transaction, which would last too long."""

    atomic = False

    dependencies = [
        ("accounts", "0009_avatars"),
    ]

    operations = [
        migrations.RunPython(schedule_avatars_of_connected_accounts, migrations.RunPython.noop),
    ]
