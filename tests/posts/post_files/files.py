"""A driver for the dashboard page of files of posts."""

from __future__ import annotations

import csv
import io
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.pages import Pages, form_of, has_form


class FilePages(Pages):
    """A browser at the page of files: sends files, applies differences and exports days."""

    def compare(self, content: str | bytes, name: str = "posts.csv") -> Any:
        sent = content.encode() if isinstance(content, str) else content
        return self.post("post-files", {"file": SimpleUploadedFile(name, sent)})

    def apply(self, difference: Any) -> Any:
        """Press the button of a difference."""
        assert difference.status_code == 200, difference.content
        form = form_of(difference, self.address("post-files-apply"))
        return self.post("post-files-apply", form, follow=True)

    def can_apply(self, difference: Any) -> bool:
        return has_form(difference, self.address("post-files-apply"))

    def bring_in(self, content: str | bytes, name: str = "posts.csv") -> Any:
        """Compare a file and apply the difference."""
        return self.apply(self.compare(content, name))

    def export(self, first: str = "2027-03-01", last: str = "2027-03-31", kind: str = "csv", account: str = "") -> Any:
        query = {"first": first, "last": last, "format": kind, "account": account}
        return self.get("post-files-export", query=query)


def csv_of(*rows: dict[str, str]) -> str:
    """A CSV file with these rows and the columns of all of them."""
    buffer = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(buffer, columns)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
