from django.db import migrations, models
from django.db.models import F


def keep_what_was_begun(apps, schema_editor):
    PostTarget = apps.get_model("posts", "PostTarget")
    PostTarget.objects.filter(step_begun=True).update(step_begun_at=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("posts", "0001_initial")]

    operations = [
        migrations.AddField("posttarget", "step_begun_at", models.DateTimeField(null=True)),
        migrations.AddField("posttarget", "turn_at", models.DateTimeField(null=True)),
        migrations.AddField("posttarget", "worker_losses", models.PositiveSmallIntegerField(default=0)),
        migrations.RunPython(keep_what_was_begun, migrations.RunPython.noop),
        migrations.RemoveField("posttarget", "step_begun"),
    ]
