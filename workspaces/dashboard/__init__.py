"""The pages of a workspace: audit log, settings, members."""
