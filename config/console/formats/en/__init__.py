"""The English date formats."""
