"""Services that save and delete the snippets of a workspace, which its members insert into posts."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import Caller, require_role
from config.api.errors import Conflict, ValidationFailed
from workspaces import selectors
from workspaces.models import Member, Snippet
from workspaces.services.workspaces import lock_workspace

MAX_SNIPPETS = 100  # of a workspace
WRITING_ROLES = (Member.Role.OWNER, Member.Role.ADMIN, Member.Role.EDITOR)


def save_snippet(
    *, caller: Caller, workspace_id: str, snippet_id: int | None = None, name: str, kind: str, text: str
) -> Snippet:
    """Create a snippet of the workspace or, if `snippet_id` is given, change that snippet.

    The fields must be valid for the model. Only owners, admins and editors may do this. Raises UserSessionRequired,
    NotFound, Forbidden, WorkspacePaused, Conflict (MAX_SNIPPETS), ValidationFailed (another snippet has the name).
    """
    require_role(caller, workspace_id, *WRITING_ROLES)
    with transaction.atomic():
        lock_workspace(workspace_id)  # so that concurrent requests cannot exceed the limit together
        if snippet_id is not None:
            snippet = selectors.get_snippet(workspace_id=workspace_id, snippet_id=snippet_id)
        elif Snippet.objects.filter(workspace_id=workspace_id).count() < MAX_SNIPPETS:
            snippet = Snippet(workspace_id=workspace_id)
        else:
            message = f"The workspace already has {MAX_SNIPPETS} snippets."
            raise Conflict(message, suggested_action=gettext_noop("Delete those that nobody uses."))
        snippet.name, snippet.kind, snippet.text = name, kind, text
        try:
            with transaction.atomic():
                snippet.save()
        except IntegrityError as error:
            raise ValidationFailed.for_field("name", gettext_noop("Another snippet has this name.")) from error
        _record(caller, "snippets.create" if snippet_id is None else "snippets.update", snippet)
    return snippet


def delete_snippet(*, caller: Caller, workspace_id: str, snippet_id: int) -> None:
    """Delete a snippet of the workspace; posts with its text stay as they are. Only owners, admins and editors may do this.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *WRITING_ROLES)
    with transaction.atomic():
        lock_workspace(workspace_id)
        snippet = selectors.get_snippet(workspace_id=workspace_id, snippet_id=snippet_id)
        _record(caller, "snippets.delete", snippet)
        snippet.delete()


def _record(caller: Caller, operation: str, snippet: Snippet) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=snippet.workspace_id,
        resource_type="snippet",
        resource_id=str(snippet.pk),
        metadata={"kind": snippet.kind, "text_length": len(snippet.text)},
    )
