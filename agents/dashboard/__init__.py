"""The pages of agents and API keys."""
