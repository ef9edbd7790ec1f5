"""Users, sign-in, workspaces, their members and invitations, and outgoing e-mail."""
