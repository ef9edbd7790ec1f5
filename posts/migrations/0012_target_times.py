from django.db import migrations, models
from django.db.models import OuterRef, Subquery

BATCH = 5000


def give_targets_the_time_of_their_group(apps, schema_editor):
    """Copy the time of each post group to its targets, in batches, so that no lock is held for long. It may be repeated."""
    target, group = apps.get_model("posts", "PostTarget"), apps.get_model("posts", "PostGroup")
    scheduled = group.objects.filter(scheduled_at__isnull=False).order_by("pk")
    last = ""
    while ids := list(scheduled.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        time = Subquery(group.objects.filter(pk=OuterRef("group_id")).values("scheduled_at")[:1])
        target.objects.filter(group__in=ids, scheduled_at=None).update(scheduled_at=time)
        last = ids[-1]


class Migration(migrations.Migration):
    """Adds the time of each target, and copies the groups' times outside a transaction, which would last too long."""

    atomic = False

    dependencies = [
        ("accounts", "0007_plain_field_names"),
        ("posts", "0011_certain_outcomes"),
    ]

    operations = [
        migrations.AddField("posttarget", "scheduled_at", models.DateTimeField(null=True)),
        migrations.RunPython(give_targets_the_time_of_their_group, migrations.RunPython.noop),
    ]
