from django.db import migrations, models
from django.db.models import Q

CERTAINTIES = [(name, name.replace("_", " ").title()) for name in ("not_sent", "maybe_sent", "sent", "confirmed", "disproved")]


def say_how_certain_it_is(apps, schema_editor):
    """Set the certainty of all targets but the published ones, whose rows the column's default has made confirmed.

    A step that has begun counts as sent, whether or not it publishes: which steps do, only the adapters know.
    """
    targets = apps.get_model("posts", "PostTarget").objects.exclude(status="published")
    targets.filter(status__in=["failed", "cancelled"]).update(certainty="not_sent")
    unconfirmed = targets.filter(status="unconfirmed")
    unconfirmed.filter(maybe_out=True).update(certainty="maybe_sent")
    unconfirmed.filter(maybe_out=False).update(certainty="sent")  # part of a thread
    unfinished = targets.filter(status__in=["pending", "publishing", "processing", "retrying"])
    doubtful = Q(maybe_out=True) | Q(step_begun_at__isnull=False)
    sent = Q(progress__taken=True) | Q(progress__sent__0__isnull=False)
    not_out = unfinished.exclude(progress__has_key="out")
    not_out.update(certainty="not_sent")
    not_out.filter(sent).update(certainty="sent")
    not_out.filter(doubtful).update(certainty="maybe_sent")


class Migration(migrations.Migration):
    """Adds `certainty`, with a default that keeps PostgreSQL from writing the rows of all published targets.

    The next migration, a transaction of its own, changes the table again, which PostgreSQL refuses while rows are changing.
    """

    dependencies = [("posts", "0009_publishing_preference")]

    operations = [
        migrations.AddField("posttarget", "certainty", models.CharField(choices=CERTAINTIES, default="confirmed", max_length=10)),
        migrations.RunPython(say_how_certain_it_is, migrations.RunPython.noop),
    ]
