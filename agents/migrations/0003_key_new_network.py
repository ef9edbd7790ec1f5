# Apart from the columns, so that their lock, which stops reads, is not held while the index is made.

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_key_networks'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='apikey',
            index=models.Index(condition=models.Q(('new_network_at__isnull', False)), fields=['new_network_at'], name='key_new_network'),
        ),
    ]
