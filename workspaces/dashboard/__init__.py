"""Dashboard pages of users and workspaces: sign-in, sessions, workspaces, members, settings and audit log."""
