"""Prices of posts, the ledger of reserved and spent money, caps, and the payment processor."""
