"""Dashboard pages that use several apps: a workspace's home page, agents, the webhook test; and the error pages."""
