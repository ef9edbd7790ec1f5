"""The model of imported rows of post files, so that importing a file again does not make its posts a second time."""

from __future__ import annotations

from django.db import models

from posts.models.posts import PostGroup


class ImportedRow(models.Model):
    """The model of an imported row of a file of posts, from which a post was made.

    `key` is made of the workspace, the SHA-256 of the file and the number of the row (posts/post_files/apply.py).
    """

    key = models.CharField(max_length=64, primary_key=True)
    group = models.OneToOneField(PostGroup, on_delete=models.CASCADE, related_name="imported_row")

    def __str__(self) -> str:
        return f"{self.group_id} from a file"
