"""The operators' API: /ops, opened by ADMIN_TOKEN alone."""
