from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("posts", "0019_plans_of_pages")]

    operations = [migrations.RenameField("publishingpreference", "at_once", "skips_undo_delay")]
