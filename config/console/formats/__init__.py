"""The console's date formats by language (Django's FORMAT_MODULE_PATH)."""
