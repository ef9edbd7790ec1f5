"""Business operations on users, workspaces, members, invitations, outgoing e-mail and snippets."""

from __future__ import annotations

from workspaces.services.invitations import (
    CreatedInvitation,
    accept_invitation,
    get_own_invitation_by_token,
    invite_member,
    withdraw_invitation,
)
from workspaces.services.mail import queue_mail, queue_sign_in_mail_to_address
from workspaces.services.mail_message import MailListItem, MailMessage, short_printable_name
from workspaces.services.members import (
    change_role,
    hand_over_workspace,
    leave_workspace,
    remove_member,
    set_editors_need_approval,
)
from workspaces.services.sign_in_links import (
    LINK_LIFETIME,
    find_open_sign_in_link,
    is_sign_in_by_email_offered,
    use_up_sign_in_link_or_none,
)
from workspaces.services.snippets import MAX_SNIPPETS, delete_snippet, save_snippet
from workspaces.services.users import (
    erase_user_and_delete_workspaces,
    find_or_create_token_user_or_none,
    load_user_data_and_audit_export,
    upsert_and_audit_user_at_sign_in,
)
from workspaces.services.workspaces import (
    create_workspace,
    delete_workspace,
    load_workspace_and_audit_export,
    lock_workspace,
    pause_workspace,
    require_may_create_workspace_for_owner,
    resume_workspace,
    update_caps,
    update_name_and_timezone,
)
