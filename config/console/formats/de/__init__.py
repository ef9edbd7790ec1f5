"""The package of the date formats of the operators' console in German."""
