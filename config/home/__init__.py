"""Dashboard pages that need several apps: a workspace's home page, agents and the webhook test; also the error pages."""
