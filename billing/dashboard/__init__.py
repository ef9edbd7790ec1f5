"""The dashboard's usage and billing page."""
