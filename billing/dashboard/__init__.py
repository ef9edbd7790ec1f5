"""The dashboard page of usage and billing."""
