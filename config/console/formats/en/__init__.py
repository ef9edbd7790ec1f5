"""The date formats of the operators' admin site in English."""
