import config.db.encryption
import config.db.ids
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_more_of_a_step'),
        ('workspaces', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='connectedaccount',
            name='refresh_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='connectedaccount',
            name='refresh_failures',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name='connectedaccount',
            index=models.Index(condition=models.Q(('refresh_at__isnull', False), ('status', 'active')), fields=['refresh_at'], name='account_refresh_due'),
        ),
        migrations.CreateModel(
            name='ConnectionAttempt',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', config.db.ids.PrefixedIdField('con', serialize=False)),
                ('actor_kind', models.CharField(max_length=10)),
                ('actor_id', models.CharField(max_length=30)),
                ('platform', models.CharField(max_length=20)),
                ('state_sha256', models.CharField(max_length=64, unique=True)),
                ('redirect_uri', models.CharField(max_length=2048)),
                ('begun', config.db.encryption.EncryptedJSONField(null=True)),
                ('kept', config.db.encryption.EncryptedJSONField(null=True)),
                ('opened', config.db.encryption.EncryptedJSONField(null=True)),
                ('code_sha256', models.CharField(blank=True, max_length=64)),
                ('used_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.connectedaccount')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
