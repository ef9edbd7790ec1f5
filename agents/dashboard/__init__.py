"""Dashboard pages of API keys, and the forms of agents and keys."""
