"""The package of the operators' console's date formats, with a package for each language (FORMAT_MODULE_PATH)."""
