"""Modules that the adapters of Meta's products share: the Graph API, its errors, OAuth, first comments."""
