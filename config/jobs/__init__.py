"""Deferred work: rows that are due, the worker loops that claim them, and their heartbeats. Knows no app."""
