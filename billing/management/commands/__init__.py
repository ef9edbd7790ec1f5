"""The management commands of billing, one module for each."""
