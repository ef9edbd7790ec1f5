"""The Pinterest adapter: pins on the boards of an account, by API v5."""
