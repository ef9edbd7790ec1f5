"""Hostile input and attacks on a running service (`make hostile`)."""
