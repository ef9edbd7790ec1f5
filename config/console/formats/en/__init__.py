"""The operators' console's date formats for English."""
