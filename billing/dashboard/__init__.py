"""The page of usage and billing."""
