"""The date formats of the operators' admin site, one package for each language (Django's FORMAT_MODULE_PATH)."""
