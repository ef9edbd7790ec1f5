"""Accounts on the wire: `accounts` and their connections, `capabilities` of accounts and of the service."""
