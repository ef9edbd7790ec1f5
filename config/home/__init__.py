"""The package of dashboard pages that need several apps: a workspace's home page, agents, webhook test and error pages."""
