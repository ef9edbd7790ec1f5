"""The package of the operators' admin site's date formats, with a package for each language (FORMAT_MODULE_PATH)."""
