"""The dashboard pages of API keys. Those of agents are in config/home."""
