import django.db.models.functions.comparison
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("posts", "0012_target_times")]

    operations = [
        migrations.RemoveIndex(model_name="postgroup", name="group_by_day"),
        migrations.RemoveIndex(model_name="postgroup", name="group_at_once"),
        migrations.AddIndex(
            model_name="posttarget",
            index=models.Index(
                models.F("account"),
                django.db.models.functions.comparison.Coalesce("scheduled_at", "created_at"),
                name="target_by_time",
            ),
        ),
    ]
