"""The dashboard pages of API keys, and the dashboard forms of agents and API keys."""
