"""The pages of connected accounts: the list, and the way of connecting one."""
