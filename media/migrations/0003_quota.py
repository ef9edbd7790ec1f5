from django.db import migrations, models
import django.db.models.deletion


def count_what_is_there(apps, schema_editor):
    """Count the bytes of each workspace's existing media assets for the new quota, without locking any row."""
    MediaAsset, MediaUsage = apps.get_model('media', 'MediaAsset'), apps.get_model('media', 'MediaUsage')
    ready = MediaAsset.objects.filter(status='ready').order_by().values('workspace_id')
    sums = ready.annotate(used=models.Sum('size_bytes')).iterator()
    MediaUsage.objects.bulk_create(
        (MediaUsage(workspace_id=each['workspace_id'], used_bytes=each['used']) for each in sums), batch_size=1000
    )


class Migration(migrations.Migration):

    dependencies = [
        ('media', '0002_pending_files'),
        ('workspaces', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='MediaUsage',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='media_usage', serialize=False, to='workspaces.workspace')),
                ('used_bytes', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='pendingfile',
            name='size_bytes',
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='pendingfile',
            name='workspace_id',
            field=models.CharField(default='', max_length=30),
            preserve_default=False,
        ),
        migrations.RunPython(count_what_is_there, migrations.RunPython.noop),
    ]
