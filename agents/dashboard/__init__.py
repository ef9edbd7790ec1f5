"""Dashboard pages of API keys, and the forms and labels of agents and keys."""
