"""The pages of a person and of a workspace: sign-in, sessions, workspaces, members, settings, audit log."""
