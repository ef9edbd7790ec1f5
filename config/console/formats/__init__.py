"""Date formats of the console, which override Django's (FORMAT_MODULE_PATH)."""
