"""How the console writes times: Django asks here before its own locale (FORMAT_MODULE_PATH)."""
