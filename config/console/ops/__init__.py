"""The package of the operators' API at /ops, which is authenticated by ADMIN_TOKEN only."""
