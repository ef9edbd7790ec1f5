"""The code that the adapters of Meta's products share: the Graph API, its errors, OAuth, and first comments."""
