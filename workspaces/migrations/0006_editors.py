from django.db import migrations, models

ROLES = [("owner", "Owner"), ("admin", "Admin"), ("editor", "Editor"), ("member", "Viewer")]


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0005_sign_in_links")]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="editors_need_approval",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="member",
            name="role",
            field=models.CharField(choices=ROLES, max_length=10),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="role",
            field=models.CharField(choices=ROLES[1:], max_length=10),
        ),
        migrations.RemoveConstraint(model_name="member", name="member_role_known"),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.CheckConstraint(
                condition=models.Q(role__in=["owner", "admin", "editor", "member"]), name="member_role_known"
            ),
        ),
        migrations.RemoveConstraint(model_name="invitation", name="invitation_role_known"),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(role__in=["admin", "editor", "member"]), name="invitation_role_known"
            ),
        ),
    ]
