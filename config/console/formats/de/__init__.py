"""The package of the date formats of the operators' admin site in German."""
