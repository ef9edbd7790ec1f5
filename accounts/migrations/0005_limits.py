from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_held_until'),
    ]

    operations = [
        migrations.AddField(
            model_name='connectedaccount',
            name='limits',
            field=models.JSONField(default=dict),
        ),
    ]
