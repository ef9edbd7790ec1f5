"""The Pinterest adapter: creates pins on the boards of an account, by Pinterest's API v5."""
