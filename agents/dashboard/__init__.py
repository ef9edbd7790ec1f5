"""The pages of API keys, and the forms and words of agents and keys."""
