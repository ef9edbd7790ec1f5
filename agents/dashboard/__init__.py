"""The package of the dashboard pages of API keys; the dashboard pages of agents are in config/home."""
