"""The operators' API at /ops, which accepts only ADMIN_TOKEN."""
